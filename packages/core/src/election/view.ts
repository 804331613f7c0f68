import type { CandidateRecord } from "../record/candidate.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { RankingExpressions } from "./expression.ts";

/** The durations that elections live by, all on the coordinator's own monotonic clock. */
export interface ElectionTiming {
  /** How long a candidate has to answer a ping before it counts as silent. */
  readonly answerBoundMs: number;
  /** A beat on a live stream counts as an answer for this long (rule 19). */
  readonly liveBoundMs: number;
  /**
   * How much longer than the answer bound the answers to one round of pings count, so that those who answered at once
   * need not be asked again when the time of the silent ones has passed.
   */
  readonly roundSlackMs: number;
  /** When a silent candidate is first asked again, if it is needed; doubled for each ping in a row without an answer. */
  readonly firstReaskMs: number;
  readonly longestReaskMs: number;
  /** When to look again after a command whose effect should have been in the log long before. */
  readonly actionLookMs: number;
  /** No decision waits longer than this for the next look. */
  readonly longestLookMs: number;
}

/** 5 s and 2 s are those of rules 18 and 19; the rest bounds how often a quiet or hopeless election is looked at. */
export const defaultElectionTiming: ElectionTiming = Object.freeze({
  answerBoundMs: 5_000,
  liveBoundMs: 2_000,
  roundSlackMs: 2_000,
  firstReaskMs: 10_000,
  longestReaskMs: 60_000,
  actionLookMs: 1_000,
  longestLookMs: 30_000,
});

/** What a question assumes beyond the records. Absent when a coordinator decides in earnest. */
export interface Assumptions {
  /** Candidates that answer, whatever they did before. */
  readonly answering: ReadonlySet<string>;
  /** Candidates that do not answer. */
  readonly silent: ReadonlySet<string>;
  /** Candidates that a hypothesis took out of the record; shown, never chosen, without a say in the strategy. */
  readonly removed: readonly CandidateRecord[];
}

/** All that a coordinator knows of one lease when it decides. Plain data; nothing is remembered between decisions. */
export interface ElectionView {
  /** The lease with its candidates, as the log tells them. A new one if nothing is kept under the name. */
  readonly record: LeaseRecord;
  /**
   * When the last beat of a candidate's live stream was heard, on the clock of `now`. A close of the stream takes its
   * candidate out, so that only open streams are here.
   */
  readonly beats: ReadonlyMap<string, number>;
  /**
   * Since when the coordinator follows the log batch by batch. What it saw at that instant came from a snapshot and may
   * be of any age, so answers from there do not count.
   */
  readonly followedSinceMs: number;
  readonly expressions: RankingExpressions;
  readonly timing: ElectionTiming;
  readonly assumptions?: Assumptions;
}
