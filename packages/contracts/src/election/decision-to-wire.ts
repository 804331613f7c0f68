import type {
  RankedCandidate as CoreRankedCandidate,
  StrategyConflict as CoreStrategyConflict,
  ElectionDecision,
  LeaseRecord,
} from "@tenure/core";
import { Decision, RankedCandidate } from "../gen/tenure/v1/decision.ts";
import { type StrategyConflict, type StrategySetting, StrategySource } from "../gen/tenure/v1/strategy.ts";
import { candidateToWire } from "../store/record/candidate-to-wire.ts";
import { timeOf } from "../store/record/wall-time.ts";
import { leaseKeyToWire } from "../store/value/key.ts";
import { strategyConflictToWire, strategySettingToWire, strategyToWire } from "../store/value/strategy.ts";
import { timestampFromMs } from "../timestamp.ts";
import { answers, criteriaToWire, exclusions, outcomes, triggers } from "./decision-enums.ts";

/** Who decided, when, and about what. */
export interface DecisionOrigin {
  /** The lease's record that was judged. */
  readonly record: LeaseRecord;
  /** Names the decision within the lease; empty for a question. */
  readonly id: string;
  /** The coordinator's instance. */
  readonly decidedBy: string;
  /** The coordinator's monotonic ms that the record was judged at. */
  readonly now: number;
  /** The same instant for people, in epoch ms. */
  readonly wallMs: number;
  /** Bytes that the message may have. Rows that do not fit are left out, those of the lowest rank first. */
  readonly maximumBytes: number;
}

/** Of a sentence that lists names, what people can read. */
const mostReasonCharacters = 1_024;
/** Sides of a conflict, and names on each, that are shown. */
const mostSides = 8;
const mostNames = 16;
/** What the size of a row costs beside the row itself, in bytes. */
const rowOverheadBytes = 4;

/** A coordinator's decision as it is recorded and shown. The lease's record shows the same names and revisions. */
export function electionDecisionToWire(decision: ElectionDecision, origin: DecisionOrigin): Decision {
  const { conflict, holder, outcome, trigger, winner } = decision;
  const { decidedBy, id, maximumBytes, record, wallMs } = origin;
  const head: Decision = {
    id,
    lease: leaseKeyToWire(record.key),
    leaseRevision: record.revision.sequence,
    decidedAt: timestampFromMs(wallMs),
    decidedBy,
    trigger: triggers[trigger],
    strategy: settingOf(decision, record),
    conflict: conflict && shownConflict(conflict),
    ranking: [],
    outcome: outcomes[outcome],
    winner,
    holder,
    token: decision.action.kind === "markEndOfTerm" ? decision.action.token : 0n,
    reason: decision.reason.slice(0, mostReasonCharacters),
  };
  return withRows(head, decision.ranking, origin, maximumBytes);
}

function withRows(
  head: Decision,
  ranking: readonly CoreRankedCandidate[],
  origin: DecisionOrigin,
  maximumBytes: number,
): Decision {
  const rows: RankedCandidate[] = [];
  let left = maximumBytes - Decision.encode(head).finish().length - mostReasonCharacters;
  for (const ranked of ranking) {
    const row = rowOf(ranked, origin);
    left -= RankedCandidate.encode(row).finish().length + rowOverheadBytes;
    if (left < 0) break;
    rows.push(row);
  }
  const missing = ranking.length - rows.length;
  const reason = missing === 0 ? head.reason : `${head.reason} (${missing} more candidates are not shown)`;
  return { ...head, ranking: rows, reason };
}

function rowOf(ranked: CoreRankedCandidate, { now, record }: DecisionOrigin): RankedCandidate {
  const { answer, candidate, decidedBy, exclusion, expressionError, isHolder, rank, reason, values } = ranked;
  return {
    rank,
    candidate: candidateToWire(record.key, candidate, now),
    answer: answers[answer],
    exclusion: exclusion === undefined ? 0 : exclusions[exclusion],
    values: values.map(({ criterion, value }) => ({ criterion: criteriaToWire[criterion], value })),
    decidedBy: decidedBy === undefined ? 0 : criteriaToWire[decidedBy],
    isHolder,
    reason: reason.slice(0, mostReasonCharacters),
    expressionError: expressionError.slice(0, mostReasonCharacters),
  };
}

/** The strategy that was used: the lease's own if it says the same, otherwise the candidates' that is not written yet. */
function settingOf({ isOperators, strategy }: ElectionDecision, record: LeaseRecord): StrategySetting | undefined {
  if (strategy === undefined) return undefined;
  const known = record.strategy;
  const isKnown =
    known?.strategy.kind === strategy.kind &&
    known.strategy.expression === strategy.expression &&
    known.strategy.vendor === strategy.vendor;
  if (known !== undefined && isKnown) return strategySettingToWire(known, timeOf(known.set));
  const source = isOperators ? StrategySource.OPERATOR : StrategySource.CONSENSUS;
  return { strategy: strategyToWire(strategy), source, author: "", reason: "", setAt: undefined };
}

function shownConflict({ sides }: CoreStrategyConflict): StrategyConflict {
  const shown = sides.slice(0, mostSides).map(({ candidates, strategy }) => ({
    strategy,
    candidates: candidates.slice(0, mostNames),
  }));
  return strategyConflictToWire({ sides: shown });
}
