import type {
  CandidateEvent,
  ConsensusRule as CoreConsensusRule,
  HoldMode as CoreHoldMode,
  HoldOrigin as CoreHoldOrigin,
  CandidatePreference as CorePreference,
  StrategyKind as CoreStrategyKind,
  StrategySource as CoreStrategySource,
  TermEndReason as CoreTermEndReason,
  TransitionKind as CoreTransitionKind,
} from "@tenure/core";
import { CandidateRemoval } from "../../gen/tenure/log/v1/candidate_event.ts";
import { CandidatePreference } from "../../gen/tenure/v1/candidate_record.ts";
import { HoldMode, HoldOrigin, TermEndReason } from "../../gen/tenure/v1/hold.ts";
import { ConsensusRule, StrategyKind, StrategySource } from "../../gen/tenure/v1/strategy.ts";
import { TransitionKind } from "../../gen/tenure/v1/transition.ts";
import type { Reading } from "../reading.ts";

/** The words of one enum in core and their numbers on the wire. */
export interface EnumTable<Word extends string, Wire extends number> {
  readonly toWire: Readonly<Record<Word, Wire>>;
  /** Undefined for a number without a word, also for UNSPECIFIED. */
  readonly fromWire: readonly (Word | undefined)[];
}

/** Makes a table of the words and their numbers. */
export function enumTable<Word extends string, Wire extends number>(
  toWire: Readonly<Record<Word, Wire>>,
): EnumTable<Word, Wire> {
  const fromWire: (Word | undefined)[] = [undefined];
  for (const [word, number] of Object.entries<Wire>(toWire)) fromWire[number] = word as Word;
  return { toWire, fromWire };
}

/**
 * The word of a number. UNSPECIFIED is `fallback` where there is one; a number without a word is rejected, and the
 * first word stands in for it.
 */
export function wordOf<Word extends string>(
  reading: Reading,
  field: string,
  table: EnumTable<Word, number>,
  number: number,
  fallback?: Word,
): Word {
  const word = number === 0 ? fallback : table.fromWire[number];
  if (word !== undefined) return word;
  reading.reject(field, number === 0 ? "must be set" : "must be a value that this version knows", String(number));
  return table.fromWire[1] as Word;
}

/** How a lease is held. */
export const holdModes = enumTable<CoreHoldMode, HoldMode>({
  exclusive: HoldMode.EXCLUSIVE,
  shared: HoldMode.SHARED,
  counted: HoldMode.COUNTED,
});

/** How a hold came about. */
export const holdOrigins = enumTable<CoreHoldOrigin, HoldOrigin>({
  acquired: HoldOrigin.ACQUIRED,
  elected: HoldOrigin.ELECTED,
  fallback: HoldOrigin.FALLBACK,
  written: HoldOrigin.WRITTEN,
  stolen: HoldOrigin.STOLEN,
});

/** Why a term ended. */
export const termEndReasons = enumTable<CoreTermEndReason, TermEndReason>({
  released: TermEndReason.RELEASED,
  expired: TermEndReason.EXPIRED,
  ended: TermEndReason.ENDED,
  preempted: TermEndReason.PREEMPTED,
  deleted: TermEndReason.DELETED,
  steppedDown: TermEndReason.STEPPED_DOWN,
  revoked: TermEndReason.REVOKED,
  stolen: TermEndReason.STOLEN,
  notAccepted: TermEndReason.NOT_ACCEPTED,
  collected: TermEndReason.COLLECTED,
  written: TermEndReason.WRITTEN,
});

/** How a winner is chosen. */
export const strategyKindTable = enumTable<CoreStrategyKind, StrategyKind>({
  oldestCompatibilityVersion: StrategyKind.OLDEST_COMPATIBILITY_VERSION,
  newestCompatibilityVersion: StrategyKind.NEWEST_COMPATIBILITY_VERSION,
  priority: StrategyKind.PRIORITY,
  expression: StrategyKind.EXPRESSION,
  noCoordination: StrategyKind.NO_COORDINATION,
  vendor: StrategyKind.VENDOR,
});

/** Who set a lease's strategy. */
export const strategySources = enumTable<CoreStrategySource, StrategySource>({
  operator: StrategySource.OPERATOR,
  consensus: StrategySource.CONSENSUS,
  written: StrategySource.WRITTEN,
});

/** How candidates' wishes are reconciled. */
export const consensusRules = enumTable<CoreConsensusRule, ConsensusRule>({
  precedence: ConsensusRule.PRECEDENCE,
  highestBinaryVersion: ConsensusRule.HIGHEST_BINARY_VERSION,
});

/** How willing a candidate is. */
export const candidatePreferences = enumTable<CorePreference, CandidatePreference>({
  preferred: CandidatePreference.PREFERRED,
  neutral: CandidatePreference.NEUTRAL,
  lastResort: CandidatePreference.LAST_RESORT,
  never: CandidatePreference.NEVER,
});

type Removal = Extract<CandidateEvent, { readonly kind: "candidateRemoved" }>["removal"];

/** Why a candidate is gone. */
export const candidateRemovals = enumTable<Removal, CandidateRemoval>({
  withdrawn: CandidateRemoval.WITHDRAWN,
  collected: CandidateRemoval.COLLECTED,
  dependent: CandidateRemoval.DEPENDENT,
});

/** What a line of history records. */
export const transitionKinds = enumTable<CoreTransitionKind, TransitionKind>({
  created: TransitionKind.CREATED,
  granted: TransitionKind.GRANTED,
  elected: TransitionKind.ELECTED,
  ended: TransitionKind.ENDED,
  endOfTermMarked: TransitionKind.END_OF_TERM_MARKED,
  endOfTermCleared: TransitionKind.END_OF_TERM_CLEARED,
  strategyChanged: TransitionKind.STRATEGY_CHANGED,
  eligibilityChanged: TransitionKind.ELIGIBILITY_CHANGED,
  updated: TransitionKind.UPDATED,
  deleted: TransitionKind.DELETED,
  restored: TransitionKind.RESTORED,
});
