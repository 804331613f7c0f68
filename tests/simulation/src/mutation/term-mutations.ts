import { profiles } from "../profile.ts";
import type { Edit } from "./mutant-code.ts";
import { edited, type Mutation, within } from "./mutation.ts";

const { elections, losses, modes, outages } = profiles;

/** Whoever compares itself with the log after every outage needs no other rule to see that it has lost its end. */
const trustsTheLog: Edit = {
  module: "lease-store",
  file: "replica/partition-replica.js",
  find: "void this.#compare();",
  replace: ";",
};

/** Bugs in the rules about modes, several leases, lock delays, elections, marks, revocations and outages. */
export const termMutations: readonly Mutation[] = [
  within(
    modes,
    edited("lets readers in beside a writer", ["I4"], {
      module: "core",
      file: "decide/clearance.js",
      find: 'return mode === "exclusive" || hold.mode === "exclusive";',
      replace: 'return mode === "exclusive";',
    }),
  ),
  within(
    modes,
    edited("gives away more units than there are", ["I4"], {
      module: "core",
      file: "decide/clearance.js",
      find: "sum + used, units) > capacity",
      replace: "sum + used, units) > capacity + 1",
    }),
  ),
  within(
    modes,
    edited("grants a part of what was claimed together", ["rule 1"], {
      module: "core",
      file: "decide/acquire.js",
      find: "if (obstacle !== undefined)",
      replace: "if (obstacle !== undefined && grants.length === 0)",
    }),
  ),
  within(
    modes,
    edited("ignores the lock delay", ["lock delay", "I4"], {
      module: "core",
      file: "decide/clearance.js",
      find: 'return waitMs > 0 ? { kind: "lockDelay"',
      replace: 'return waitMs > 1e9 ? { kind: "lockDelay"',
    }),
  ),
  within(
    modes,
    edited("lets anyone write guarded values who knows the token", ["I6"], {
      module: "core",
      file: "decide/guard.js",
      find: "checkHolder(hold, command) ??",
      replace: "",
    }),
  ),
  edited("takes guarded values by the token alone when the term is over", ["I6"], {
    module: "core",
    file: "decide/guard.js",
    find: "const hold = record?.holdWith(token);",
    replace:
      'const past = { lease: record, principal: command.principal, mode: "exclusive", holder: command.principal };' +
      " const hold = record?.holdWith(token) ?? (token === record?.lastToken ? past : undefined);",
  }),
  within(
    modes,
    edited("renews a term that was revoked", ["rule 15"], {
      module: "core",
      file: "decide/renew.js",
      find: "if (revocation !== undefined)",
      replace: "if (false)",
    }),
  ),
  within(
    modes,
    edited("gives a deleted lease away beside its readers", ["rule 15"], {
      module: "core",
      file: "decide/clearance.js",
      find: "staying.filter((hold) => record.deletion !== undefined || excludes",
      replace: "staying.filter((hold) => excludes",
    }),
  ),
  within(
    elections,
    edited("renews beyond the drain bound", ["rule 20"], {
      module: "core",
      file: "decide/renew.js",
      find: "if (!isDrained(record, hold, now))",
      replace: "if (true)",
    }),
  ),
  within(
    elections,
    edited("takes an accept after the window", ["rule 18"], {
      module: "core",
      file: "decide/accept.js",
      find: "if (isLapsed(record, now))",
      replace: "if (false)",
    }),
  ),
  within(
    elections,
    edited("elects one who has to sit out", ["rule 18"], {
      module: "core",
      file: "coordination.js",
      find: "if (coolDown !== undefined &&",
      replace: "if (false &&",
    }),
  ),
  within(
    elections,
    edited("grants a plain claim beside candidates", ["rule 21"], {
      module: "core",
      file: "decide/clearance.js",
      find: "(wish.isElection ? undefined : checkCoordination(record, spec, ending, now))",
      replace: "undefined",
    }),
  ),
  within(elections, {
    name: "leads before its accept is committed",
    breaks: ["I9"],
    plant: async () => ({ flaws: { actsWhenChosen: true } }),
  }),
  within(
    outages,
    edited("skips the pause after an outage", ["rule 17"], {
      module: "core",
      file: "expiry-guard.js",
      find: "return { ...guard, isOutage: true, lostAtMs: now, hadPause: false };",
      replace: "return guard;",
    }),
  ),
  within(
    outages,
    edited("takes a slow append for a prompt one", ["rule 17"], {
      module: "core",
      file: "expiry-guard.js",
      find: "return now - sentAtMs <= promptAppendMs;",
      replace: "return true;",
    }),
  ),
  within(
    outages,
    edited("expires at once after a takeover", ["rule 17"], {
      module: "core",
      file: "expiry-guard.js",
      find: "return isInOrder ? newExpiryGuard() : { ...newExpiryGuard(), isOutage: true };",
      replace: "return newExpiryGuard();",
    }),
  ),
  within(
    outages,
    edited("forgets at a hand-over what holders are owed", ["rule 17"], {
      module: "core",
      file: "decide/owner.js",
      find: "owesPause: owesPause(owned.guard, now)",
      replace: "owesPause: false",
    }),
  ),
  within(
    losses,
    edited(
      "follows whatever has the right sequence",
      ["rule 2"],
      {
        module: "core",
        file: "follow.js",
        find: "prevBatchId !== state.lastBatchId ||",
        replace: "",
      },
      trustsTheLog,
    ),
  ),
  within(
    losses,
    edited("forgets what it had read when it loads anew", ["rule 2"], {
      module: "core",
      file: "follow.js",
      find: "state.lastRead = lastRead;",
      replace: ";",
    }),
  ),
  within(
    losses,
    edited(
      "appends to whatever has the right sequence",
      ["rule 2"],
      {
        module: "log",
        file: "batch-writer.js",
        find: "if (prevBatchIdOf === undefined)",
        replace: "if (true)",
      },
      trustsTheLog,
    ),
  ),
  within(
    losses,
    edited("goes on when its log has gone back", ["rule 2"], {
      module: "lease-store",
      file: "replica/store-replica.js",
      find: "this.at(partition).halt(",
      replace: "void (",
    }),
  ),
];
