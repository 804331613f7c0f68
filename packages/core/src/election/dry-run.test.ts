import { describe, expect, it } from "vitest";
import { Arena, strategyOf } from "../testing/arena.ts";
import { dryRunElection, explainElection } from "./dry-run.ts";
import type { Hypothesis } from "./hypothesis.ts";

/** `a` leads at 1.19.0 before `b` at 1.20.0 and `c` at 1.21.0; only `a` and `b` are known to be there. */
function fleet(): Arena {
  const arena = new Arena();
  arena.join("a", { compatibilityVersion: "1.19.0", zone: "north" });
  arena.join("b", { zone: "north" });
  arena.join("c", { binaryVersion: "1.21.0", compatibilityVersion: "1.21.0", zone: "south" }, { life: "answering" });
  arena.settle();
  expect(arena.holder).toBe("a");
  return arena;
}

const cases: readonly (readonly [string, readonly Hypothesis[], string])[] = [
  ["nothing", [], "a"],
  ["the leader is gone", [{ kind: "candidateGone", candidate: "a" }], "b"],
  ["the leader is drained", [{ kind: "candidateDrained", candidate: "a" }], "b"],
  ["another is drained", [{ kind: "candidateDrained", candidate: "b" }], "a"],
  ["the leader's term ends", [{ kind: "holderGone" }], "a"],
  ["the leader's zone is gone", [{ kind: "zoneGone", zone: "north" }], "c"],
  ["the newest is to lead", [{ kind: "strategy", strategy: strategyOf("newestCompatibilityVersion") }], "c"],
  ["the others lead", [{ kind: "strategy", strategy: strategyOf("noCoordination") }], "a"],
  [
    "another gets a priority",
    [{ kind: "candidate", candidate: "b", spec: {}, priority: { value: 1, expiresAfterMs: undefined } }],
    "b",
  ],
  [
    "the leader is upgraded",
    [{ kind: "candidate", candidate: "a", spec: { compatibilityVersion: "1.20.1", binaryVersion: "1.21.0" } }],
    "b",
  ],
  ["a new one comes", [{ kind: "candidate", candidate: "z", spec: { binaryVersion: "1.18.0" } }], "z"],
  ["the leader is silent, which its renewals belie", [{ kind: "candidateSilent", candidate: "a" }], "a"],
  [
    "the leader is gone and the next is silent",
    [
      { kind: "candidateGone", candidate: "a" },
      { kind: "candidateSilent", candidate: "b" },
    ],
    "c",
  ],
  [
    "it is drained and uncordoned again",
    [
      { kind: "candidateDrained", candidate: "a" },
      { kind: "candidateUncordoned", candidate: "a" },
    ],
    "a",
  ],
  ["all are gone", ["a", "b", "c"].map((candidate) => ({ kind: "candidateGone", candidate })), ""],
];

describe("a dry run", () => {
  it.each(cases)("says who would lead if %s", (_, hypotheses, leader) => {
    const arena = fleet();
    const run = dryRunElection(arena.view, hypotheses, arena.desk.now);
    expect(run.before).toMatchObject({ expectedLeader: "a", outcome: "kept", trigger: "question" });
    expect(run.after).toMatchObject({ expectedLeader: leader, trigger: "question" });
    expect(run.leaderChanges).toBe(leader !== "a");
  });

  it("changes nothing, and shows what a hypothesis took out", () => {
    const arena = fleet();
    const { candidates, ...before } = arena.record;
    const known = new Map(candidates);
    const { after } = dryRunElection(arena.view, [{ kind: "candidateGone", candidate: "a" }], arena.desk.now);
    expect(arena.record).toMatchObject(before);
    expect(arena.record.candidates).toEqual(known);
    expect(after.ranking.at(-1)).toMatchObject({ rank: 0, exclusion: "hypothesis", reason: "is taken to be gone" });
    expect(after.winner).toBe("b");
  });

  it("one that a hypothesis took out has no say in the strategy", () => {
    const arena = fleet();
    arena.join("d", { strategy: strategyOf("noCoordination") });
    const { after, before } = dryRunElection(arena.view, [{ kind: "candidateGone", candidate: "d" }], arena.desk.now);
    expect([before.outcome, after.outcome]).toEqual(["leftToOthers", "kept"]);
  });

  it("a candidate that answers again is believed", () => {
    const arena = new Arena();
    arena.join("a", {}, { life: "dead" });
    arena.step();
    arena.pass(5_000);
    const run = dryRunElection(arena.view, [{ kind: "candidateAnswers", candidate: "a" }], arena.desk.now);
    expect([run.before.outcome, run.after.outcome]).toEqual(["nobody", "elected"]);
  });
});

describe("an explanation", () => {
  it("is the decision of now with its table, and does not take for granted who was not asked", () => {
    const arena = fleet();
    arena.release();
    arena.crash("a");
    arena.crash("b");
    expect(explainElection(arena.view, arena.desk.now)).toMatchObject({
      trigger: "question",
      outcome: "pinged",
      ranking: [
        { rank: 1, answer: "notAsked", candidate: { name: "a" } },
        { rank: 2, answer: "notAsked", candidate: { name: "b" } },
        { rank: 3, answer: "notAsked", candidate: { name: "c" } },
      ],
    });
  });
});
