import type { CandidateRecord } from "../record/candidate.ts";
import type { Strategy, StrategyConflict, StrategySource } from "../record/strategy.ts";
import type { CandidateAnswer } from "./answer.ts";
import type { Criterion } from "./criterion.ts";
import type { Exclusion } from "./exclusion.ts";

/** What made a coordinator decide. */
export type ElectionTrigger =
  | "vacant"
  | "released"
  | "expired"
  | "betterCandidate"
  | "successorGone"
  | "notAccepted"
  | "timer"
  | "question";

/** What was decided. */
export type ElectionOutcome =
  | "elected"
  | "endOfTerm"
  | "endOfTermCleared"
  | "kept"
  | "pinged"
  | "nobody"
  | "conflict"
  | "leftToOthers"
  | "foreignHolder";

/** The one command that follows from a decision. Each names the revision that it was decided on, or harms nobody. */
export type ElectionAction =
  | { readonly kind: "none" }
  | { readonly kind: "ping"; readonly candidates: readonly string[] }
  | {
      readonly kind: "elect";
      readonly candidate: string;
      readonly expectedRevision: bigint;
      /** The candidates' consensus, written in the same step; absent when the lease has it already. */
      readonly strategy?: Strategy;
    }
  | {
      readonly kind: "markEndOfTerm";
      readonly token: bigint;
      readonly preferredHolder: string;
      readonly expectedRevision: bigint;
    }
  | { readonly kind: "clearEndOfTerm"; readonly expectedRevision: bigint }
  | {
      readonly kind: "putStrategy";
      readonly strategy: { readonly strategy: Strategy; readonly source: StrategySource } | undefined;
      readonly conflict: StrategyConflict | undefined;
      readonly expectedRevision: bigint;
    };

/** A candidate's place in a decision, and why it has it. */
export interface RankedCandidate {
  /** 1 is the best; 0 cannot be chosen. */
  readonly rank: number;
  readonly candidate: CandidateRecord;
  readonly answer: CandidateAnswer;
  readonly exclusion: Exclusion | undefined;
  /** What it was ranked by, in order. */
  readonly values: readonly { readonly criterion: Criterion; readonly value: string }[];
  /** The first criterion that puts it after the candidate above it; undefined for the first and for the excluded. */
  readonly decidedBy: Criterion | undefined;
  readonly isHolder: boolean;
  /** One sentence for people. */
  readonly reason: string;
  /** Why the expression gave no number, which ranks it last; empty if it gave one. */
  readonly expressionError: string;
}

/** A coordinator's decision about one lease, with everything that it rests on. */
export interface ElectionDecision {
  readonly action: ElectionAction;
  readonly outcome: ElectionOutcome;
  readonly trigger: ElectionTrigger;
  /** The strategy that was used; undefined when the candidates' wishes conflict or there is no candidate. */
  readonly strategy: Strategy | undefined;
  /** Whether an operator set the strategy. */
  readonly isOperators: boolean;
  readonly conflict: StrategyConflict | undefined;
  /** All candidates: those that can be chosen by rank, then the others by name. */
  readonly ranking: readonly RankedCandidate[];
  /** The candidate that is chosen or preferred; empty if none. */
  readonly winner: string;
  /** Who holds the lease; empty if nobody does. */
  readonly holder: string;
  /** Who will lead if nothing else changes and those who are asked answer; empty if nobody. */
  readonly expectedLeader: string;
  /** One sentence for people. */
  readonly reason: string;
  /** Ms after `now` at which to look again even if no event comes before. Always finite. */
  readonly lookAgainMs: number;
}
