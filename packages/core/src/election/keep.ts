import type { ElectionDecision } from "./decision.ts";
import {
  type Circumstances,
  type Conclusion,
  conclude,
  expectedRevisionOf,
  isStrategyStale,
  type Situation,
} from "./situation.ts";

/** A term that is overdue here is ended by the owner at any moment; if it is not, look again soon. */
export function orSoon({ view }: Situation, dueMs: number): number {
  return dueMs > 0 ? dueMs : view.timing.actionLookMs;
}

/** Leaves the holder alone because nobody is better. */
export function keep(situation: Situation, lookAgainMs: number): ElectionDecision {
  const { holder, ranking } = situation;
  const standing = [...ranking.chosen, ...ranking.excluded].find(({ isHolder }) => isHolder);
  const reason =
    standing === undefined
      ? `${holder} stays: it has withdrawn its candidacy, and its term goes on`
      : `${holder} stays: no candidate that answers is better`;
  return keepBecause(situation, { trigger: "timer", reason, lookAgainMs });
}

/** Leaves the holder alone, and writes down the strategy if the candidates came to another. */
export function keepBecause(situation: Situation, why: Omit<Conclusion, "outcome" | "action">): ElectionDecision {
  const { record, strategy } = situation;
  if (!isStrategyStale(record, strategy)) return conclude(situation, { ...why, outcome: "kept" });
  const setting = { strategy, source: "consensus" } as const;
  const expectedRevision = expectedRevisionOf(record);
  const action = { kind: "putStrategy", strategy: setting, conflict: undefined, expectedRevision } as const;
  return conclude(situation, { ...why, outcome: "kept", action });
}

/** Takes back a coordinator's mark when coordinators no longer have a successor to name; undefined if there is none. */
export function clearOwnMark(circumstances: Circumstances, why: string): ElectionDecision | undefined {
  const { holder, record } = circumstances;
  const mark = record.endOfTerm;
  if (mark === undefined || mark.decisionId === "" || record.holds[0]?.token !== mark.token) return undefined;
  const action = { kind: "clearEndOfTerm", expectedRevision: expectedRevisionOf(record) } as const;
  const reason = `${holder} goes on: ${why}`;
  return conclude(circumstances, { outcome: "endOfTermCleared", trigger: "successorGone", action, reason });
}
