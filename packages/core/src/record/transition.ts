import type { HoldOrigin, Participant, TermEndReason } from "./hold.ts";
import type { Position } from "./position.ts";

/** What a line of a lease's history records. */
export type TransitionKind =
  | "created"
  | "granted"
  | "elected"
  | "ended"
  | "endOfTermMarked"
  | "endOfTermCleared"
  | "strategyChanged"
  | "eligibilityChanged"
  | "updated"
  | "deleted"
  | "restored";

/** What few lines have. */
export interface TransitionDetails {
  readonly heldForMs?: number;
  readonly successor?: string;
  readonly reason?: string;
  readonly decisionId?: string;
  readonly participant?: Participant;
}

/** One line of a lease's history, written by the same event as what it records. */
export interface Transition {
  readonly position: Position;
  readonly kind: TransitionKind;
  /** The holder or chosen candidate concerned; empty if none. */
  readonly holder: string;
  /** The term concerned; 0 if none. */
  readonly token: bigint;
  /** Who caused the change; empty when time did. */
  readonly author: string;
  /** How the term began or why it ended; undefined for other lines. */
  readonly cause: HoldOrigin | TermEndReason | undefined;
  readonly details?: TransitionDetails | undefined;
}
