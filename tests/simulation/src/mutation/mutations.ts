import { lengths, profiles } from "../profile.ts";
import { electionMutations } from "./election-mutations.ts";
import { migrationMutations } from "./migration-mutations.ts";
import { edited, type Mutation, within } from "./mutation.ts";
import { acknowledgeEarly, skipSequenceCheck, takeSilenceForFailure } from "./port-mutations.ts";
import { termMutations } from "./term-mutations.ts";
import { watchMutations } from "./watch-mutations.ts";

/** Bugs that the simulator must find, each at a place where the safety of the store hangs on one line. */
export const mutations: readonly Mutation[] = [
  {
    name: "acknowledges before the append",
    breaks: ["I14", "I17"],
    plant: async () => ({ ports: { transport: acknowledgeEarly } }),
  },
  {
    name: "skips the sequence check",
    breaks: ["I2"],
    plant: async () => ({ ports: { transport: skipSequenceCheck } }),
  },
  {
    name: "treats an unknown outcome as failed",
    breaks: ["I13"],
    plant: async () => ({ ports: { writer: takeSilenceForFailure } }),
  },
  {
    name: "counts the deadline from the answer",
    breaks: ["I4"],
    plant: async () => ({ flaws: { countsFromAnswer: true } }),
  },
  { name: "acts on after the release", breaks: ["I4"], plant: async () => ({ flaws: { actsAfterRelease: true } }) },
  edited("expires early", ["I4", "I7"], {
    module: "core",
    file: "decide/overdue.js",
    find: "remainingMs(hold.renewal, hold.leaseDurationMs, now)",
    replace: "remainingMs(hold.renewal, hold.leaseDurationMs * 0.9, now)",
  }),
  // The pause after a take-over hides this one where L is short, so it goes too.
  edited(
    "expires by a time from before the load",
    ["I7"],
    { module: "core", file: "snapshot/load.js", find: "seenAtMs: now }", replace: "seenAtMs: now - 10_000 }" },
    {
      module: "core",
      file: "expiry-guard.js",
      find: "return isInOrder ? newExpiryGuard() : { ...newExpiryGuard(), isOutage: true };",
      replace: "return newExpiryGuard();",
    },
  ),
  edited(
    "resets the token on delete",
    ["I3"],
    { module: "core", file: "decide/number.js", find: "batch.prev + 1n", replace: "batch.prev * 0n" },
    {
      module: "core",
      file: "apply/lease.js",
      find: "record.uid = 0;",
      replace: "record.uid = 0; record.lastToken = 0n;",
    },
  ),
  edited("frees a running term when its lease is deleted", ["I4", "rule 15"], {
    module: "core",
    file: "apply/lease.js",
    find: "    if (!record.isHeld)\n        removeLease(state, record, position);",
    replace:
      "    for (const hold of record.holds) state.holds.delete(hold.id);\n    record.holds = [];\n    removeLease(state, record, position);",
  }),
  within(
    lengths,
    edited("shortens a term that runs", ["I4", "I7"], {
      module: "core",
      file: "decide/renew.js",
      find: "...checkLonger(leaseDurationMs, hold.leaseDurationMs),",
      replace: "",
    }),
  ),
  edited(
    "drops the check of who writes guarded values",
    ["I6"],
    { module: "core", file: "decide/guard.js", find: "record?.holdWith(token)", replace: "record?.holds[0]" },
    { module: "core", file: "decide/guard.js", find: "checkHolder(hold, command) ??", replace: "" },
  ),
  edited("applies a repeated attempt twice", ["rule 4"], {
    module: "core",
    file: "decide/decide.js",
    find: "if (known !== undefined)",
    replace: 'if (known?.kind === "attemptTooOld")',
  }),
  within(
    profiles.plain,
    edited("answers a linearizable read without an append", ["I16"], {
      module: "lease-store",
      file: "replica/partition-owner.js",
      find: "this.#queue.push(call);",
      replace:
        "if (!(call instanceof CommandCall) && !this.#isOpen) call.complete(this.#owned); else this.#queue.push(call);",
    }),
  ),
  edited(
    "grants in the first batch of an epoch",
    ["rule 9"],
    { module: "core", file: "decide/number.js", find: "return isFirstOfEpoch || ", replace: "return " },
    {
      module: "lease-store",
      file: "replica/partition-owner.js",
      find: "await this.#append(this.#firstTurn(isHandedOver), signal)",
      replace: "await this.#ports.clock.sleep(50).then(() => this.#append(this.#firstTurn(isHandedOver), signal))",
    },
    {
      module: "lease-store",
      file: "replica/partition-owner.js",
      find: "return { batch, calls: [], mustAppend: true, isLast: false };",
      replace:
        "const filled = fillBatch(this.#owned, this.#queue, this.#waiting, 100, new BatchSize(batch.events), clock.now()); this.#queue = filled.rest;" +
        " return { batch, calls: [...filled.answered], mustAppend: true, isLast: false };",
    },
  ),
  edited("keeps what was never committed", ["I14", "state"], {
    module: "lease-store",
    file: "replica/partition-replica.js",
    find: 'ending.kind === "replaced" && !ending.isClean',
    replace: "false",
  }),
  edited("hides a gap from watchers", ["I17", "I18"], {
    module: "lease-store",
    file: "replica/partition-replica.js",
    find: "this.#listener.onReloaded(this.partition);",
    replace: "",
  }),
  edited("forgets those who wait", ["I26"], {
    module: "core",
    file: "waiting/settle.js",
    find: "export function settleWaiters(owned, now) {",
    replace: "export function settleWaiters(owned, now) { owned.stirred.clear();",
  }),
  ...termMutations,
  ...electionMutations,
  ...migrationMutations,
  ...watchMutations,
];
