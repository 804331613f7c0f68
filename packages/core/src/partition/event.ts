import type { LeaseKey } from "../key.ts";
import type { CandidateSpec, Cordon, Priority } from "../record/candidate.ts";
import type { Eligibility } from "../record/eligibility.ts";
import type { EndOfTerm, HoldFacts, PendingHold, TermEndReason, WrittenTimes } from "../record/hold.ts";
import type { LeaseSpec } from "../record/lease-spec.ts";
import type { StrategyConflict, StrategySetting } from "../record/strategy.ts";
import type { OutcomeFacts } from "./outcome.ts";
import type { Settings } from "./settings.ts";

/** Names a snapshot object exactly. */
export interface SnapshotReference {
  readonly name: string;
  readonly sequence: bigint;
  /** Hexadecimal SHA-256 of the object. */
  readonly digest: string;
  readonly sizeBytes: number;
}

/** Facts about the partition itself. */
export type PartitionEvent =
  | {
      readonly kind: "ownerChanged";
      readonly epoch: bigint;
      readonly owner: string;
      readonly previousEpoch: bigint;
      readonly previousOwner: string;
      readonly isHandedOver: boolean;
    }
  | {
      readonly kind: "ownerHandedOver";
      readonly successor: string;
      /** Holders have not had their time to renew since the last outage: the successor gives it to them (rule 17). */
      readonly owesPause: boolean;
    }
  | { readonly kind: "snapshotAnnounced"; readonly snapshot: SnapshotReference }
  | { readonly kind: "settingsChanged"; readonly settings: Settings }
  /** After a restore nothing is granted for this long; 0 ends the pause. */
  | { readonly kind: "recoveryChanged"; readonly holdOffMs: number }
  | {
      readonly kind: "attemptRecorded";
      /** The client and its principal as one text: see `clientKey`. */
      readonly client: string;
      readonly number: bigint;
      readonly settledBelow: bigint;
      readonly digest: number;
      readonly outcome: OutcomeFacts;
    }
  | { readonly kind: "attemptsForgotten"; readonly client: string; readonly belowNumber: bigint };

/** Facts about a lease's record. */
export type LeaseEvent =
  | { readonly kind: "leaseCreated"; readonly lease: LeaseKey; readonly uid: number; readonly spec: LeaseSpec }
  | { readonly kind: "leaseUpdated"; readonly lease: LeaseKey; readonly spec: LeaseSpec }
  /** `isRemoved` false revokes the term with this token; true deletes the lease, at once if no term runs. */
  | {
      readonly kind: "leaseDeleted";
      readonly lease: LeaseKey;
      readonly isRemoved: boolean;
      readonly token: bigint;
      readonly endReason: "deleted" | "revoked" | "collected";
    }
  /** A holder's renewal undid a plain deletion. */
  | { readonly kind: "leaseRestored"; readonly lease: LeaseKey }
  | { readonly kind: "tombstoneRemoved"; readonly lease: LeaseKey }
  | {
      readonly kind: "strategyChanged";
      readonly lease: LeaseKey;
      readonly strategy: StrategySetting | undefined;
      readonly conflict: StrategyConflict | undefined;
    }
  | {
      readonly kind: "migrationChanged";
      readonly lease: LeaseKey;
      readonly configuration: Uint8Array | undefined;
      readonly eligibility: Eligibility | undefined;
    }
  | { readonly kind: "decisionRecorded"; readonly lease: LeaseKey; readonly id: string; readonly body: Uint8Array };

/** Facts about terms. */
export type HoldEvent =
  | { readonly kind: "holdGranted"; readonly lease: LeaseKey; readonly hold: HoldFacts; readonly transitions: number }
  /** Terms that were renewed. Carried in packed form, apart from the other events: their order does not matter. */
  | { readonly kind: "renewed"; readonly holdIds: readonly number[]; readonly sendNumber: bigint }
  /** A term's own properties changed with a renewal; counts as one. */
  | {
      readonly kind: "holdChanged";
      readonly lease: LeaseKey;
      readonly holdId: number;
      readonly leaseDurationMs?: number;
      readonly value?: Uint8Array;
      readonly writtenTimes?: WrittenTimes;
    }
  | {
      readonly kind: "holdEnded";
      readonly lease: LeaseKey;
      readonly holdId: number;
      readonly token: bigint;
      readonly endReason: TermEndReason;
      readonly heldForMs: number;
      readonly successor: string;
      readonly lockDelayMs: number;
    }
  | { readonly kind: "holdPending"; readonly lease: LeaseKey; readonly pending: PendingHold }
  | { readonly kind: "pendingLapsed"; readonly lease: LeaseKey; readonly token: bigint; readonly candidate: string }
  | { readonly kind: "endOfTermMarked"; readonly lease: LeaseKey; readonly endOfTerm: EndOfTerm }
  | { readonly kind: "endOfTermCleared"; readonly lease: LeaseKey; readonly token: bigint };

/** Facts about candidates. */
export type CandidateEvent =
  | {
      readonly kind: "candidatePut";
      readonly lease: LeaseKey;
      readonly candidate: string;
      /** Another uid than the record's is a new registration. */
      readonly uid: number;
      readonly principal: string;
      readonly spec: CandidateSpec;
      readonly priority: Priority | undefined;
      readonly cordon: Cordon | undefined;
    }
  | { readonly kind: "candidateRenewed"; readonly lease: LeaseKey; readonly candidate: string }
  | {
      readonly kind: "candidatesPinged";
      readonly lease: LeaseKey;
      readonly questions: readonly { readonly candidate: string; readonly pingNumber: bigint }[];
      readonly coordinator: string;
    }
  | {
      readonly kind: "candidateAnswered";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly pingNumber: bigint;
    }
  | {
      readonly kind: "candidateRemoved";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly removal: "withdrawn" | "collected" | "dependent";
    }
  | {
      readonly kind: "candidateCooledDown";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly coolDownMs: number;
      readonly hasMissedAccept: boolean;
    };

/** Guarded values changed, all in one step. An undefined value deletes its key. */
export interface GuardEvent {
  readonly kind: "guardChanged";
  readonly lease: LeaseKey;
  readonly token: bigint;
  readonly holder: string;
  readonly changes: readonly { readonly key: string; readonly value: Uint8Array | undefined }[];
}

/** Who caused an event and why they said they did; both empty when time did. */
export interface Cause {
  readonly author: string;
  readonly reason: string;
}

/** What happened, without its cause. */
export type EventBody = PartitionEvent | LeaseEvent | HoldEvent | CandidateEvent | GuardEvent;

/** One fact of the log. Facts say what was decided, not what was asked: applying them needs no clock and no choice. */
export type Event = EventBody & Cause;
