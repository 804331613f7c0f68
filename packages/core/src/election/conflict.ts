import { type Consensus, reconcile } from "../consensus.ts";
import { isCandidateValid, strategyInForce } from "../coordination.ts";
import type { CandidateRecord } from "../record/candidate.ts";
import { elapsedMs } from "../record/position.ts";
import type { Strategy, StrategyConflict } from "../record/strategy.ts";
import { answerOf, untilSilentMs } from "./answer.ts";
import type { ElectionAction, ElectionDecision } from "./decision.ts";
import { clearOwnMark } from "./keep.ts";
import { type Circumstances, conclude, expectedRevisionOf, isSameStrategy } from "./situation.ts";
import type { ElectionView } from "./view.ts";

/**
 * The strategy that is in force. When wishes conflict and nobody leads, those that do not answer any more have no say:
 * the wish of a process that is gone would otherwise keep a lease vacant for as long as its record counts.
 */
export function consensusOf(view: ElectionView, now: number): Consensus {
  const { record } = view;
  const valid = [...(record.candidates?.values() ?? [])].filter((candidate) => isCandidateValid(candidate, now));
  if (valid.length === 0) return { kind: "none" };
  const consensus = strategyInForce(record, now);
  if (consensus.kind !== "conflict" || record.holds.length > 0) return consensus;
  const present = valid.filter((candidate) => answerOf(candidate, view, now) !== "silent");
  return present.length === 0 ? consensus : reconcile(present, record.spec.consensusRule);
}

/** The candidates' wishes cannot be reconciled: say so on the lease, choose nobody, and leave the holder (66). */
export function reportConflict(circumstances: Circumstances, conflict: StrategyConflict): ElectionDecision {
  const { now, view } = circumstances;
  const cleared = clearOwnMark(circumstances, "the candidates' strategies conflict");
  if (cleared !== undefined) return { ...cleared, conflict };
  const voters = votersOf(circumstances, conflict);
  const awaited = voters.filter((candidate) => answerOf(candidate, view, now) === "awaited");
  const lookAgainMs = Math.min(
    ...awaited.map((candidate) => untilSilentMs(candidate, view, now)),
    view.timing.longestLookMs,
  );
  const sides = conflict.sides.map(({ candidates, strategy }) => `${candidates.join(", ")} want ${shown(strategy)}`);
  const reason = `nobody is elected by guess: ${sides.join("; ")}`;
  const action = conflictAction(circumstances, conflict, voters);
  return conclude(circumstances, { outcome: "conflict", trigger: "timer", action, conflict, reason, lookAgainMs });
}

/** Those whose wishes conflict. */
function votersOf({ record }: Circumstances, { sides }: StrategyConflict): readonly CandidateRecord[] {
  const names = sides.flatMap(({ candidates }) => candidates);
  return names.flatMap((name) => record.candidates?.get(name) ?? []);
}

/** Writes the conflict down, then sees whether those whose wishes conflict are there, if the lease waits for that. */
function conflictAction(
  { now, record, view }: Circumstances,
  conflict: StrategyConflict,
  voters: readonly CandidateRecord[],
): ElectionAction {
  if (!isSameConflict(record.conflict, conflict)) {
    const strategy = record.strategy && { strategy: record.strategy.strategy, source: record.strategy.source };
    return { kind: "putStrategy", strategy, conflict, expectedRevision: expectedRevisionOf(record) };
  }
  const isDue = (candidate: CandidateRecord) =>
    answerOf(candidate, view, now) === "notAsked" &&
    (candidate.ping === undefined || elapsedMs(candidate.ping.pinged, now) >= view.timing.longestReaskMs);
  const unasked = record.holds.length > 0 ? [] : voters.filter(isDue);
  return unasked.length > 0 ? { kind: "ping", candidates: unasked.map(({ name }) => name) } : { kind: "none" };
}

function isSameConflict(left: StrategyConflict | undefined, right: StrategyConflict): boolean {
  return (
    left?.sides.length === right.sides.length &&
    right.sides.every(({ candidates, strategy }, place) => {
      const side = left.sides[place];
      return isSameStrategy(side?.strategy, strategy) && side?.candidates.join() === candidates.join();
    })
  );
}

/** A strategy as people read it. */
export function shown({ expression, kind, vendor }: Strategy): string {
  return vendor || (expression === "" ? kind : `the expression ${JSON.stringify(expression)}`);
}
