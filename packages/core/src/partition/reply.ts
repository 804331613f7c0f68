import type { FieldViolation } from "@tenure/kernel";
import type { LeaseKey } from "../key.ts";
import type { Limits } from "../limits.ts";
import type { TimingViolation } from "../timing.ts";
import type { Outcome } from "./outcome.ts";

/** Refusals that can pass with time, so that a claim that waits is queued instead. */
export type Obstacle =
  /** Another holds it, or stands before the caller in the queue, or has been chosen and may yet accept. */
  | {
      readonly kind: "held";
      readonly lease: LeaseKey;
      readonly holder: string;
      readonly token: bigint;
      readonly retryAfterMs: number;
    }
  /** A deleted or revoked term may still be acting. */
  | { readonly kind: "tombstone"; readonly lease: LeaseKey; readonly token: bigint; readonly retryAfterMs: number }
  | { readonly kind: "lockDelay"; readonly lease: LeaseKey; readonly retryAfterMs: number }
  /** Live candidates are coordinated; undefined: plain claims are never granted beside them. */
  | { readonly kind: "coordinated"; readonly lease: LeaseKey; readonly retryAfterMs: number | undefined }
  | { readonly kind: "recovering"; readonly retryAfterMs: number };

/** Why a command changed nothing. Expected results, never thrown. */
export type Refusal =
  | Obstacle
  | { readonly kind: "invalid"; readonly violations: readonly FieldViolation[] }
  | { readonly kind: "timingUnsafe"; readonly lease: LeaseKey; readonly violations: readonly TimingViolation[] }
  | { readonly kind: "routingPartsDiffer"; readonly leases: readonly LeaseKey[] }
  | { readonly kind: "leaseNotFound"; readonly lease: LeaseKey }
  | { readonly kind: "candidateNotFound"; readonly lease: LeaseKey; readonly candidate: string }
  | { readonly kind: "alreadyExists"; readonly lease: LeaseKey; readonly candidate?: string; readonly revision: bigint }
  /** The expected revision is not the record's. Read after the commit, as positions are; 0 while there is no record. */
  | {
      readonly kind: "revisionConflict";
      readonly lease: LeaseKey;
      readonly expected: bigint;
      readonly revision: bigint;
    }
  | { readonly kind: "uidConflict"; readonly lease: LeaseKey }
  | { readonly kind: "comparisonFailed"; readonly lease: LeaseKey; readonly key: string; readonly revision: bigint }
  | { readonly kind: "notHolder"; readonly lease: LeaseKey; readonly token: bigint }
  /** The token is older than the newest granted one, which is `token`. */
  | { readonly kind: "fenced"; readonly lease: LeaseKey; readonly holder: string; readonly token: bigint }
  | { readonly kind: "endOfTerm"; readonly lease: LeaseKey; readonly token: bigint; readonly successor: string }
  | { readonly kind: "termExpired"; readonly lease: LeaseKey; readonly token: bigint }
  | { readonly kind: "revoked"; readonly lease: LeaseKey; readonly token: bigint; readonly reason: string }
  | { readonly kind: "acceptTooLate"; readonly lease: LeaseKey; readonly token: bigint }
  | { readonly kind: "notPending"; readonly lease: LeaseKey; readonly token: bigint }
  | { readonly kind: "notEligible"; readonly lease: LeaseKey; readonly component: string; readonly version: string }
  | { readonly kind: "configurationDisagrees"; readonly lease: LeaseKey; readonly configuration: string }
  | { readonly kind: "holdModeMismatch"; readonly lease: LeaseKey; readonly mode: string; readonly wanted: string }
  | { readonly kind: "exclusiveHoldRequired"; readonly lease: LeaseKey }
  | {
      readonly kind: "candidateNotElectable";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly why: "expired" | "cordoned" | "coolDown" | "never" | "unhealthy";
    }
  | { readonly kind: "immutable"; readonly lease: LeaseKey; readonly field: string; readonly why: string }
  /** The term is younger than the lease's minimum term. */
  | { readonly kind: "tooYoung"; readonly lease: LeaseKey; readonly retryAfterMs: number }
  | { readonly kind: "principalMismatch"; readonly lease: LeaseKey; readonly candidate?: string }
  | { readonly kind: "renewKeyMismatch"; readonly lease: LeaseKey }
  /** The outcome of this attempt is no longer known: it may have happened. */
  | { readonly kind: "attemptTooOld"; readonly number: bigint; readonly floor: bigint }
  | { readonly kind: "attemptReused"; readonly number: bigint }
  | { readonly kind: "waitEnded"; readonly leases: readonly LeaseKey[] }
  | { readonly kind: "limitExceeded"; readonly limit: keyof Limits; readonly value: number }
  /** Not due by the owner's clock, or the owner may expire nobody now; it asks again after `retryAfterMs`. */
  | { readonly kind: "notDue"; readonly lease: LeaseKey; readonly retryAfterMs: number; readonly needsProbe: boolean };

/** What became of one renewal, in the order of the command's items. */
export type RenewalResult =
  | {
      readonly kind: "renewed";
      readonly sendNumber: bigint;
      /** Whether the holder is asked to finish; the renewal counts all the same. */
      readonly isEnding: boolean;
      readonly successor: string;
    }
  | Refusal;

/** The answer to a command. */
export type Reply =
  | Outcome
  | { readonly kind: "renewals"; readonly results: readonly RenewalResult[]; readonly position: Outcome["position"] }
  /** Whether each candidate exists and was renewed, in the order of the answers. */
  | { readonly kind: "answered"; readonly isKnown: readonly boolean[]; readonly position: Outcome["position"] }
  /** The claim stands in the queue; its grant or end comes later under the same id. */
  | { readonly kind: "queued"; readonly waiterId: string; readonly ahead: number }
  /** A fact about the partition was taken into the batch. */
  | { readonly kind: "noted"; readonly position: Outcome["position"] }
  /**
   * Ask again in the next batch: this one has begun a term of the lease, is its epoch's first, or is the append that
   * must be acknowledged before anyone is expired. A batch that said so is appended even if it is empty.
   */
  | { readonly kind: "nextBatch" }
  | Refusal;

const obstacles: ReadonlySet<string> = new Set(["held", "tombstone", "lockDelay", "coordinated", "recovering"]);

/** Whether a reply names something that can pass with time. */
export function isObstacle(reply: Reply): reply is Obstacle {
  return obstacles.has(reply.kind);
}

const answers: ReadonlySet<string> = new Set(["renewals", "answered", "queued", "noted", "nextBatch"]);
const outcomes: ReadonlySet<string> = new Set<Outcome["kind"]>([
  "granted",
  "released",
  "changed",
  "deleted",
  "guardedChanged",
  "candidateChanged",
  "candidateRemoved",
  "pinged",
  "collected",
]);

/** Whether a reply is the outcome of a change that is remembered for its attempt. */
export function isOutcome(reply: Reply): reply is Outcome {
  return outcomes.has(reply.kind);
}

/** Whether a reply says that the command changed nothing and why. */
export function isRefusal(reply: Reply): reply is Refusal {
  return !outcomes.has(reply.kind) && !answers.has(reply.kind);
}
