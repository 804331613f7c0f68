import type { LeaseRecord } from "../record/lease.ts";
import type { Strategy, StrategyConflict } from "../record/strategy.ts";
import type {
  ElectionAction,
  ElectionDecision,
  ElectionOutcome,
  ElectionTrigger,
  RankedCandidate,
} from "./decision.ts";
import { untilChangeMs } from "./exclusion.ts";
import type { Ranking, Standing } from "./standing.ts";
import { rankedRows } from "./table.ts";
import type { ElectionView } from "./view.ts";

/** A lease whose strategy ranks candidates, with the ranking. */
export interface Situation {
  readonly view: ElectionView;
  readonly record: LeaseRecord;
  readonly now: number;
  readonly strategy: Strategy;
  readonly isOperators: boolean;
  readonly ranking: Ranking;
  /** Who holds the lease; empty if nobody does. */
  readonly holder: string;
}

/** What a branch of the decision came to. */
export interface Conclusion {
  readonly outcome: ElectionOutcome;
  readonly trigger: ElectionTrigger;
  readonly reason: string;
  readonly action?: ElectionAction;
  readonly winner?: string;
  readonly expectedLeader?: string;
  /** Ms after which this branch must be looked at again; absent when only an event or the passing of time matters. */
  readonly lookAgainMs?: number;
  readonly conflict?: StrategyConflict;
}

/** What a decision was made about, as far as it is known. */
export type Circumstances = Pick<Situation, "view" | "record" | "now" | "holder"> &
  Partial<Pick<Situation, "strategy" | "isOperators" | "ranking">>;

/** The whole decision: a branch's conclusion with the ranked table and the instant of the next look. */
export function conclude(circumstances: Circumstances, conclusion: Conclusion): ElectionDecision {
  const { holder, isOperators = false, now, record, strategy, view } = circumstances;
  const { action = { kind: "none" }, conflict, expectedLeader, outcome, reason, trigger, winner = "" } = conclusion;
  const { actionLookMs, longestLookMs } = view.timing;
  const branchLookMs = action.kind === "none" ? (conclusion.lookAgainMs ?? longestLookMs) : actionLookMs;
  let rows: readonly RankedCandidate[] | undefined;
  return {
    action,
    outcome,
    trigger: view.assumptions === undefined ? trigger : "question",
    strategy,
    isOperators,
    conflict,
    // Nearly all decisions leave things as they are, and nobody reads their table.
    get ranking() {
      const { ranking } = circumstances;
      rows ??= ranking === undefined || strategy === undefined ? [] : rankedRows(ranking, strategy, now);
      return rows;
    },
    winner,
    holder,
    expectedLeader: expectedLeader ?? (winner === "" ? holder : winner),
    reason,
    lookAgainMs: Math.max(1, Math.min(branchLookMs, untilRecordChangesMs(record, now), longestLookMs)),
  };
}

/** Ms until time alone changes who can be chosen or how they rank. */
function untilRecordChangesMs({ candidates }: LeaseRecord, now: number): number {
  let untilMs = Number.POSITIVE_INFINITY;
  for (const candidate of candidates?.values() ?? []) untilMs = Math.min(untilMs, untilChangeMs(candidate, now));
  return untilMs;
}

/** The revision that a command about the lease must find; 0 when no lease of the name exists. */
export function expectedRevisionOf(record: LeaseRecord): bigint {
  return record.created === undefined || record.deletion !== undefined ? 0n : record.revision.sequence;
}

/** The names of candidates in order. */
export function namesOf(standings: readonly Standing[]): readonly string[] {
  return standings.map(({ candidate }) => candidate.name);
}

/** Whether two strategies say the same. */
export function isSameStrategy(left: Strategy | undefined, right: Strategy | undefined): boolean {
  return left?.kind === right?.kind && left?.expression === right?.expression && left?.vendor === right?.vendor;
}

/** Whether the lease does not show yet what its candidates agree on. An operator's strategy is never replaced. */
export function isStrategyStale(record: LeaseRecord, strategy: Strategy): boolean {
  if (record.strategy?.source === "operator") return false;
  return record.conflict !== undefined || !isSameStrategy(record.strategy?.strategy, strategy);
}
