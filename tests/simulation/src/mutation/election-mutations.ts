import { profiles, restless } from "../profile.ts";
import { edited, type Mutation, within } from "./mutation.ts";

/** Bugs in the coordinators and in what the store holds against them. */
const inCoordination: readonly Mutation[] = [
  edited("elects one who has not answered", ["rule 19"], {
    module: "core",
    file: "election/answer.js",
    find: 'return answer === "ping" || answer === "liveStream";',
    replace: 'return answer !== "silent";',
  }),
  edited("takes the answer to an old ping for a new one", ["rule 19"], {
    module: "core",
    file: "election/answer.js",
    find: "if (ping.answeredNumber >= ping.number) {",
    replace: "if (ping.answeredNumber > 0n) {",
  }),
  edited("goes by answers from before it looked", ["rule 19"], {
    module: "core",
    file: "election/answer.js",
    find: "answered === undefined || answered.seenAtMs <= view.followedSinceMs",
    replace: "answered === undefined",
  }),
  edited("counts the beats of a stream that was closed", ["rule 19"], {
    module: "election",
    file: "coordinator/live-streams.js",
    find: "places.delete(name);\n        if (places.size === 0)\n            this.#leases.delete(key);\n        this.#options",
    replace: "this.#options",
  }),
  edited("ends a term for one who has not answered", ["rule 19"], {
    module: "core",
    file: "election/preemption.js",
    find: "return confirm(situation, usable) ?? (better && markFor(situation, hold, holder, better));",
    replace: "return markFor(situation, hold, holder, better ?? first);",
  }),
  edited("elects while a term runs", ["rule 18"], {
    module: "core",
    file: "election/election-decision.js",
    find: "return decideSuccession(situation, hold);",
    replace: "return decideVacancy(situation);",
  }),
  edited("ignores the revision that was decided on", ["rule 6"], {
    module: "core",
    file: "decide/permission.js",
    find: "return revision === expected && !isOpen ? undefined",
    replace: "return revision >= expected ? undefined",
  }),
  edited("keeps the mark for a successor that has gone", ["statement 74"], {
    module: "core",
    file: "election/hand-over.js",
    find: "if (!isWanted)",
    replace:
      "if (successor === undefined) return conclude(situation, { ...base, lookAgainMs: dueMs });\n    if (!isWanted)",
  }),
  edited("leaves a lease to its candidates at once", ["rule 21"], {
    module: "core",
    file: "decide/clearance.js",
    find: 'return leftMs > 0 ? { kind: "coordinated", lease: record.key, retryAfterMs: leftMs } : undefined;',
    replace: "return undefined;",
  }),
  edited("leaves alone whoever claimed while no coordinator acted", ["best"], {
    module: "core",
    file: "election/election-decision.js",
    find: ' || origin === "fallback"',
    replace: "",
  }),
  edited("ends a term before its minimum age", ["minimum term"], {
    module: "core",
    file: "election/preemption.js",
    find: "if (youngMs > 0) {",
    replace: "if (false) {",
  }),
  edited("forgets that the loser of a term sits out", ["cool-down"], {
    module: "core",
    file: "decide/end.js",
    find: "losses.has(endReason) && coolDownMs > 0",
    replace: "false",
  }),
  edited("leads by the oldest when the newest is asked for", ["best"], {
    module: "core",
    file: "election/criterion.js",
    find: 'return kind === "newestCompatibilityVersion" ? -1 : 1;',
    replace: "return 1;",
  }),
  edited("never ends a term for a better candidate", ["best"], {
    module: "core",
    file: "election/succession.js",
    find: "holder === undefined ? undefined : decidePreemption(situation, hold, holder)",
    replace: "undefined",
  }),
  edited("forgets to look again", ["I26", "best"], {
    module: "election",
    file: "coordinator/coordinator.js",
    find: "this.#wheel.set(lease, decision.lookAgainMs);",
    replace: "",
  }),
  edited("does not look at the shard that it takes over", ["I26", "best"], {
    module: "election",
    file: "coordinator/coordination.js",
    find: "listener.onTaken(shard);\n                this.#scan(shard);",
    replace: "listener.onTaken(shard);",
  }),
  edited("does not look at a shard again that it lost for a moment", ["I26", "best"], {
    module: "election",
    file: "coordinator/coordination.js",
    find: "onRegained: (shard) => this.#scan(shard)",
    replace: "onRegained: () => {}",
  }),
].map((mutation) => within(profiles.coordination, mutation));

/** Bugs in elections. */
export const electionMutations: readonly Mutation[] = [
  ...inCoordination,
  within(
    restless,
    edited("lets an expression send the leader round", ["flapping"], {
      module: "core",
      file: "election/preemption.js",
      find: 'if (strategy.kind !== "expression")',
      replace: "if (true)",
    }),
  ),
];
