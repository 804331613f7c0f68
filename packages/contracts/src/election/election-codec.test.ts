import {
  defaultCandidateSpec,
  defaultElectionTiming,
  dryRunElection,
  type ElectionView,
  electionDecision,
  type LeaseRecord,
} from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { Answer, Criterion, Decision, DecisionOutcome, DecisionTrigger, Exclusion } from "../gen/tenure/v1/decision.ts";
import { Hypothesis } from "../gen/tenure/v1/hypothesis.ts";
import { StrategySource } from "../gen/tenure/v1/strategy.ts";
import { OwnerDesk } from "../store/testing/owner-desk.ts";
import { electionDecisionToWire } from "./decision-to-wire.ts";
import { hypothesesFromWire } from "./hypothesis-from-wire.ts";

const lease = "billing/scheduler";

function register(desk: OwnerDesk, candidate: string, version: string, more = {}): void {
  const spec = { ...defaultCandidateSpec, binaryVersion: version, compatibilityVersion: version, ...more };
  desk.run({ kind: "registerCandidate", lease, candidate, spec, principal: candidate });
}

function viewOf(desk: OwnerDesk, live: readonly string[]): ElectionView {
  const record: LeaseRecord | undefined = desk.owned.state.leases.get(lease);
  if (record === undefined) throw new Error("nothing is kept");
  const beats = new Map(live.map((name) => [name, desk.now]));
  const expressions = { compile: () => ({ kind: "refused", problems: ["none here"] }) as const };
  return { record, beats, followedSinceMs: 0, expressions, timing: defaultElectionTiming };
}

function shown(desk: OwnerDesk, view: ElectionView, maximumBytes = 60_000): Decision {
  const { now, wallMs } = desk;
  const origin = { record: view.record, id: "d1", decidedBy: "co", now, wallMs, maximumBytes };
  return electionDecisionToWire(electionDecision(view, now), origin);
}

describe("a decision on the wire", () => {
  it("has the ranked table, what each was ranked by and why, and survives its encoding", () => {
    const desk = new OwnerDesk();
    register(desk, "a", "1.21.0");
    register(desk, "b", "1.20.0");
    register(desk, "c", "1.19.0", { preference: "never" });
    const decision = shown(desk, viewOf(desk, ["a", "b"]));
    expect(decision).toMatchObject({
      id: "d1",
      decidedBy: "co",
      trigger: DecisionTrigger.VACANT,
      outcome: DecisionOutcome.ELECTED,
      winner: "b",
      strategy: { source: StrategySource.CONSENSUS },
    });
    const rows = decision.ranking.map(({ answer, candidate, decidedBy, exclusion, rank }) => ({
      name: candidate?.key?.name,
      rank,
      answer,
      exclusion,
      decidedBy,
    }));
    expect(rows).toEqual([
      { name: "b", rank: 1, answer: Answer.LIVE_STREAM, exclusion: 0, decidedBy: 0 },
      { name: "a", rank: 2, answer: Answer.LIVE_STREAM, exclusion: 0, decidedBy: Criterion.COMPATIBILITY_VERSION },
      { name: "c", rank: 0, answer: Answer.UNSPECIFIED, exclusion: Exclusion.NEVER, decidedBy: 0 },
    ]);
    expect(Decision.decode(Decision.encode(decision).finish())).toEqual(decision);
  });

  it("never exceeds its bound: the lowest rows are left out and said to be missing", () => {
    const desk = new OwnerDesk();
    for (let number = 0; number < 200; number += 1)
      register(desk, `candidate-${String(number).padStart(3, "0")}`, "1.20.0");
    const decision = shown(desk, viewOf(desk, ["candidate-000"]), 10_000);
    expect(Decision.encode(decision).finish().length).toBeLessThanOrEqual(10_000);
    expect(decision.ranking.length).toBeGreaterThan(10);
    expect(decision.ranking[0]?.candidate?.key?.name).toBe("candidate-000");
    expect(decision.reason).toContain(`(${200 - decision.ranking.length} more candidates are not shown)`);
  });

  it("shows the sides of a conflict", () => {
    const desk = new OwnerDesk();
    register(desk, "a", "1.20.0", { strategy: { kind: "expression", expression: "1", vendor: "" } });
    register(desk, "b", "1.20.0", { strategy: { kind: "expression", expression: "2", vendor: "" } });
    const decision = shown(desk, viewOf(desk, ["a", "b"]));
    expect(decision.outcome).toBe(DecisionOutcome.CONFLICT);
    expect(decision.conflict?.sides.map(({ candidates }) => candidates)).toEqual([["a"], ["b"]]);
  });
});

describe("hypotheses from the wire", () => {
  const read = (...assumptions: NonNullable<Hypothesis["assumption"]>[]) =>
    hypothesesFromWire(assumptions.map((assumption) => Hypothesis.fromPartial({ assumption })));

  it("keep what an assumed candidate does not say", () => {
    const spec = { compatibilityVersion: "1.19.0" };
    const value = Hypothesis.fromPartial({ assumption: { $case: "candidate", value: { name: "b", spec } } }).assumption;
    if (value === undefined) throw new Error("no assumption");
    const hypotheses = read(value);
    expect(hypotheses).toEqual([{ kind: "candidate", candidate: "b", spec: { compatibilityVersion: "1.19.0" } }]);
    const desk = new OwnerDesk();
    register(desk, "a", "1.20.0");
    register(desk, "b", "1.20.0");
    if (hypotheses instanceof Fault) throw hypotheses;
    expect(dryRunElection(viewOf(desk, ["a", "b"]), hypotheses, desk.now).after.winner).toBe("b");
  });

  it("are refused with every broken rule", () => {
    const refused = hypothesesFromWire([
      Hypothesis.fromPartial({}),
      Hypothesis.fromPartial({ assumption: { $case: "candidateGone", value: "" } }),
      Hypothesis.fromPartial({ assumption: { $case: "candidate", value: { name: "..x", priority: { value: 0 } } } }),
    ]);
    if (!(refused instanceof Fault)) throw new Error("not refused");
    expect(refused.details.violations?.map(({ field }) => field)).toEqual([
      "hypotheses[0]",
      "hypotheses[1].candidate_gone",
      "hypotheses[2].candidate.name",
      "hypotheses[2].candidate.priority",
    ]);
    expect(hypothesesFromWire([])).toBeInstanceOf(Fault);
  });
});
