import { ElectionServiceSetStrategyRequest, Lease, type Strategy, strategyToWire } from "@tenure/contracts";
import { strategyNamed } from "@tenure/core";
import type { Command, Invocation } from "../command/command.ts";
import { strategyDetails } from "../command/strategy-words.ts";
import { CommandFailure, exitCodes, usageFailure } from "../exit-code.ts";
import { outcomeText } from "../records/decision.ts";
import { findLease, leaseKind } from "../records/lease.ts";
import { firstLease } from "../records/lease-name.ts";
import { leaseText, strategyText } from "../records/words.ts";
import { changeFlags, makeChange, reasonOf } from "./change.ts";

/** The strategy that a word and a flag name. */
export function strategyOf(name: string | undefined, expression: string | undefined): Strategy {
  if (expression !== undefined) return strategyToWire({ kind: "expression", expression, vendor: "" });
  const strategy = strategyNamed(name ?? "");
  if (strategy !== undefined) return strategyToWire(strategy);
  throw usageFailure(
    `STRATEGY must be OldestCompatibilityVersion, NewestCompatibilityVersion, Priority, NoCoordination, domain/name or --expression (got ${JSON.stringify(name ?? "")})`,
  );
}

/** `strategy set`, `strategy clear`. */
export const strategyCommands: readonly Command[] = [
  {
    path: ["strategy", "set"],
    summary: "Set how a lease's leader is chosen, over the candidates' own wishes",
    details: strategyDetails,
    positionals: [{ name: "NAME" }, { name: "STRATEGY", optional: true }],
    flags: [
      {
        name: "expression",
        value: "CEL",
        summary: "rank candidates by this expression instead; docs/elections.md has the names in it",
      },
      ...changeFlags,
    ],
    examples: [
      ["tenure strategy set billing/scheduler NewestCompatibilityVersion --dry-run", "who would lead then"],
      ["tenure strategy set billing/scheduler --expression 'candidate.labels.disk == \"ssd\" ? 1 : 0'", "own ranking"],
    ],
    run(invocation) {
      const strategy = strategyOf(invocation.positionals[1], invocation.values.text("expression"));
      return setStrategy(invocation, strategy, `set the strategy to ${strategyText(strategy)}`);
    },
  },
  {
    path: ["strategy", "clear"],
    summary: "Give the choice of the strategy back to the candidates",
    positionals: [{ name: "NAME" }],
    flags: changeFlags,
    examples: [["tenure strategy clear billing/scheduler", "the candidates' consensus counts again"]],
    run: (invocation) => setStrategy(invocation, undefined, "give the strategy back to the candidates"),
  },
];

async function setStrategy(invocation: Invocation, strategy: Strategy | undefined, what: string): Promise<number> {
  const tenure = await invocation.connect();
  const lease = firstLease(invocation);
  // A lease that does not exist yet is created with its strategy.
  const present = await findLease(tenure, lease);
  return await makeChange(invocation, {
    kind: leaseKind,
    present,
    what: `${what} of ${leaseText(lease)}`,
    async apply(dryRun) {
      const { consequence, lease: after } = await tenure.session.change("ElectionService.SetStrategy", (attempt) =>
        ElectionServiceSetStrategyRequest.fromPartial({
          attempt,
          lease,
          strategy,
          dryRun,
          note: reasonOf(invocation),
          ...(present === undefined ? {} : { expectedRevision: present.revision }),
        }),
      );
      if (consequence !== undefined) invocation.terminal.note(outcomeText(consequence));
      if (after !== undefined) return after;
      if (dryRun) return present ?? Lease.fromPartial({ key: lease });
      throw new CommandFailure(exitCodes.error, "the service answered without the record");
    },
  });
}
