import type { CampaignOptions, StrategyInput } from "@tenure/sdk";
import type { Command, Flag, Invocation } from "../command/command.ts";
import { strategyDetails } from "../command/strategy-words.ts";
import { usageFailure } from "../exit-code.ts";
import { firstLease } from "../records/lease-name.ts";
import { holdFlags, timingOf } from "../run/hold-flags.ts";
import { Holding } from "../run/holding.ts";

/** What a candidate says about itself; nobody asks without `--coordinated`. */
const candidateFlags: readonly Flag[] = [
  { name: "binary-version", value: "X.Y.Z", summary: "with --coordinated: the program's version" },
  { name: "compatibility-version", value: "X.Y.Z", summary: "with --coordinated: what it behaves as" },
  { name: "priority", value: "N", summary: "with --coordinated: the higher leads, before any version" },
  { name: "strategy", value: "STRATEGY", summary: "with --coordinated: how it wants leaders to be chosen" },
  { name: "zone", value: "ZONE", summary: "with --coordinated: where it runs" },
  { name: "label", value: "KEY=VALUE", multiple: true, summary: "with --coordinated: may be given several times" },
];

/** `exec`: a program runs only while this host leads. */
export const execCommand: Command = {
  path: ["exec"],
  summary: "Run a program only while this host leads",
  details: `Waits until it leads, then runs the program with TENURE_LEASE, TENURE_TOKEN and TENURE_HOLDER in its environment.
At the end of the term the program gets SIGTERM and may take --drain to finish. When the term is about to
run out on this host's own clock, the program and its whole process group are killed before it does,
whatever the network does and also when this process itself is stopped or killed.
With --coordinated, ${strategyDetails}`,
  positionals: [{ name: "NAME" }],
  takesProgram: true,
  flags: [
    ...holdFlags,
    { name: "restart", summary: "campaign and run again after every end that was not asked for by a signal" },
    { name: "coordinated", summary: "let the election service choose the leader" },
    ...candidateFlags,
  ],
  examples: [
    ["tenure exec billing/scheduler -- ./scheduler --verbose", "on every host; one of them runs it"],
    ["tenure exec scheduler --restart -- ./scheduler", "stand by again after a crash or a hand-over"],
    ["tenure exec scheduler --coordinated --binary-version 1.21.0 -- ./scheduler", "version-aware"],
    ["tenure exec scheduler --pre-stop 'curl -X POST localhost/drain' -- ./server", "drain first"],
  ],
  ownsSignals: true,
  async run(invocation) {
    const lease = firstLease(invocation);
    const name = `${lease.namespace}/${lease.name}`;
    const options = campaignOptions(invocation);
    using holding = new Holding(invocation);
    const tenure = await holding.connect();
    if (tenure === undefined) return holding.withoutTerm(name);
    holding.note(`waiting for ${name} as ${tenure.holder}`);
    for await (const term of tenure.campaign(lease, { ...options, signal: holding.waiting })) {
      const outcome = await holding.run(term, tenure);
      if (holding.signals.stop.aborted || !invocation.values.has("restart")) return outcome;
    }
    return holding.withoutTerm(name);
  },
};

function campaignOptions(invocation: Invocation): CampaignOptions {
  const { values } = invocation;
  if (values.durationMs("wait") === 0)
    throw usageFailure("--wait must be above 0: only lock can take at once or not at all");
  // The program is killed by its watchdog at the deadline: this process need not end for that.
  const options = { ...timingOf(invocation), onOverrun: "signal-only" } as const;
  if (!values.has("coordinated")) {
    // A wish that nobody would hear must not look as if it had been heard.
    const idle = candidateFlags.find(({ name }) => values.isGiven(name));
    if (idle !== undefined) throw usageFailure(`--${idle.name} needs --coordinated`);
    return options;
  }
  const binaryVersion = values.text("binary-version");
  if (binaryVersion === undefined) throw usageFailure("--coordinated needs --binary-version");
  const strategy = values.text("strategy");
  return {
    ...options,
    coordinated: {
      binaryVersion,
      compatibilityVersion: values.text("compatibility-version"),
      priority: values.integer("priority", 1, 2 ** 31 - 1),
      // The SDK checks the name, and the service what it means.
      ...(strategy === undefined ? {} : { strategy: strategy as StrategyInput }),
      zone: values.text("zone"),
      labels: values.pairs("label"),
    },
  };
}
