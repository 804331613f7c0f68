import type { LeaseKey } from "../key.ts";
import type { Position } from "../record/position.ts";

/** One term that a command began. */
export interface Grant {
  readonly lease: LeaseKey;
  readonly holdId: number;
  readonly token: bigint;
  /**
   * The newest send of the claim, or beat of the wait, that had reached the owner; the holder's deadline is the instant
   * of that send plus H (rules 11 and 12). 0 from clients that count nothing.
   */
  readonly sendNumber: bigint;
}

/** What a change did, in the form that is remembered for its attempt. */
export type OutcomeFacts =
  | { readonly kind: "granted"; readonly grants: readonly Grant[] }
  /** Whether each item was held until now, in the order of the items. */
  | { readonly kind: "released"; readonly released: readonly boolean[] }
  /** A lease was created or changed; its record shows how. */
  | { readonly kind: "changed"; readonly lease: LeaseKey }
  /** `isLingering`: a term may still be acting, so the name grants nothing yet. */
  | { readonly kind: "deleted"; readonly lease: LeaseKey; readonly isLingering: boolean }
  | { readonly kind: "guardedChanged"; readonly lease: LeaseKey; readonly existed: boolean }
  | { readonly kind: "candidateChanged"; readonly lease: LeaseKey; readonly candidate: string }
  | {
      readonly kind: "candidateRemoved";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly existed: boolean;
    }
  /** The number of each question in order; 0 where the candidate does not exist. */
  | { readonly kind: "pinged"; readonly lease: LeaseKey; readonly pingNumbers: readonly bigint[] }
  | { readonly kind: "collected"; readonly isCollected: boolean };

/**
 * What a change did and where in the log; the position is undefined when nothing changed. Its sequence is known once
 * the batch is acknowledged, which is also when a reply may leave.
 */
export type Outcome = OutcomeFacts & { readonly position: Position | undefined };

/** The outcome of one attempt, remembered for its duplicates. */
export interface RememberedOutcome {
  readonly number: bigint;
  /** Hash of the request, so that the number of one request is not taken for another's. */
  readonly digest: number;
  readonly outcome: Outcome;
}

/** What a partition remembers of one client. */
export interface ClientWindow {
  /** Attempts below this number are refused: their outcome is no longer known. */
  floor: bigint;
  /** In order of attempt number. Changed in place. */
  outcomes: RememberedOutcome[];
}
