import type {
  CandidateAnswer,
  Criterion as CoreCriterion,
  Exclusion as CoreExclusion,
  ElectionOutcome,
  ElectionTrigger,
} from "@tenure/core";
import { Answer, Criterion, DecisionOutcome, DecisionTrigger, Exclusion } from "../gen/tenure/v1/decision.ts";

/** What made a coordinator decide. */
export const triggers: Readonly<Record<ElectionTrigger, DecisionTrigger>> = {
  vacant: DecisionTrigger.VACANT,
  released: DecisionTrigger.RELEASED,
  expired: DecisionTrigger.EXPIRED,
  betterCandidate: DecisionTrigger.BETTER_CANDIDATE,
  successorGone: DecisionTrigger.SUCCESSOR_GONE,
  notAccepted: DecisionTrigger.NOT_ACCEPTED,
  timer: DecisionTrigger.TIMER,
  question: DecisionTrigger.QUESTION,
};

/** What was decided. */
export const outcomes: Readonly<Record<ElectionOutcome, DecisionOutcome>> = {
  elected: DecisionOutcome.ELECTED,
  endOfTerm: DecisionOutcome.END_OF_TERM,
  endOfTermCleared: DecisionOutcome.END_OF_TERM_CLEARED,
  kept: DecisionOutcome.KEPT,
  pinged: DecisionOutcome.PINGED,
  nobody: DecisionOutcome.NOBODY,
  conflict: DecisionOutcome.CONFLICT,
  leftToOthers: DecisionOutcome.LEFT_TO_OTHERS,
  foreignHolder: DecisionOutcome.FOREIGN_HOLDER,
};

/** Whether and how a candidate showed that it is alive. */
export const answers: Readonly<Record<CandidateAnswer, Answer>> = {
  notAsked: Answer.UNSPECIFIED,
  ping: Answer.PING,
  liveStream: Answer.LIVE_STREAM,
  awaited: Answer.AWAITED,
  silent: Answer.SILENT,
};

/** Why a candidate cannot be chosen. */
export const exclusions: Readonly<Record<CoreExclusion, Exclusion>> = {
  silent: Exclusion.SILENT,
  expired: Exclusion.EXPIRED,
  cordoned: Exclusion.CORDONED,
  never: Exclusion.NEVER,
  unhealthy: Exclusion.UNHEALTHY,
  coolDown: Exclusion.COOL_DOWN,
  missedAccept: Exclusion.MISSED_ACCEPT,
  versionUnparsable: Exclusion.VERSION_UNPARSABLE,
  notEligible: Exclusion.NOT_ELIGIBLE,
  hypothesis: Exclusion.HYPOTHESIS,
};

/** What candidates are compared by. */
export const criteriaToWire: Readonly<Record<CoreCriterion, Criterion>> = {
  preference: Criterion.PREFERENCE,
  zone: Criterion.ZONE,
  priority: Criterion.PRIORITY,
  expression: Criterion.EXPRESSION,
  compatibilityVersion: Criterion.COMPATIBILITY_VERSION,
  binaryVersion: Criterion.BINARY_VERSION,
  registration: Criterion.REGISTRATION,
  name: Criterion.NAME,
};
