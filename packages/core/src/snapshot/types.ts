import type { LeaseKey } from "../key.ts";
import type { SnapshotReference } from "../partition/event.ts";
import type { OutcomeFacts } from "../partition/outcome.ts";
import type { Settings } from "../partition/settings.ts";
import type { CandidateSpec, Cordon, Priority } from "../record/candidate.ts";
import type { Eligibility } from "../record/eligibility.ts";
import type { EndOfTerm, HoldFacts, PendingHold, Revocation, TermEndReason } from "../record/hold.ts";
import type { Deletion } from "../record/lease.ts";
import type { LeaseSpec } from "../record/lease-spec.ts";
import type { StrategyConflict, StrategySetting } from "../record/strategy.ts";
import type { Transition, TransitionDetails } from "../record/transition.ts";

/** A place in a snapshot's table of positions. */
export type PositionIndex = number;

/** A position without the instant, which is each replica's own. */
export interface StoredPosition {
  readonly sequence: bigint;
  readonly wallMs: number;
}

/** A running term. */
export interface StoredHold extends HoldFacts {
  readonly granted: PositionIndex;
  readonly renewal: PositionIndex;
  readonly revocation: Revocation | undefined;
}

/** A candidate. */
export interface StoredCandidate {
  readonly name: string;
  readonly uid: number;
  readonly principal: string;
  readonly registered: PositionIndex;
  readonly revision: PositionIndex;
  readonly renewal: PositionIndex;
  readonly spec: CandidateSpec;
  readonly priority: (Priority & { readonly set: PositionIndex }) | undefined;
  readonly cordon: (Cordon & { readonly set: PositionIndex }) | undefined;
  readonly ping:
    | {
        readonly number: bigint;
        readonly answeredNumber: bigint;
        readonly pinged: PositionIndex;
        readonly answered: PositionIndex | undefined;
      }
    | undefined;
  readonly coolDown: { readonly from: PositionIndex; readonly coolDownMs: number } | undefined;
  readonly missedAccepts: number;
}

/** A guarded value. */
export interface StoredGuardedValue {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: PositionIndex;
  readonly token: bigint;
  readonly holder: string;
}

/** One line of a lease's history. */
export interface StoredLine extends Omit<Transition, "position" | "details"> {
  readonly position: PositionIndex;
  readonly details: TransitionDetails | undefined;
}

/** All that is kept under one lease name. */
export interface StoredLease {
  readonly key: LeaseKey;
  readonly created: PositionIndex | undefined;
  readonly uid: number;
  readonly revision: PositionIndex;
  readonly spec: LeaseSpec;
  readonly holds: readonly StoredHold[];
  readonly pending: (PendingHold & { readonly from: PositionIndex }) | undefined;
  readonly lastToken: bigint;
  readonly transitions: number;
  readonly lastEndReason: TermEndReason | undefined;
  readonly freeSince: PositionIndex;
  readonly lockDelay: { readonly from: PositionIndex; readonly delayMs: number } | undefined;
  readonly deletion: Deletion | undefined;
  readonly strategy: (StrategySetting & { readonly set: PositionIndex }) | undefined;
  readonly conflict: (StrategyConflict & { readonly since: PositionIndex }) | undefined;
  readonly preferredHolder: string;
  readonly endOfTerm: (EndOfTerm & { readonly marked: PositionIndex }) | undefined;
  readonly eligibility: Eligibility | undefined;
  readonly migration: { readonly configuration: Uint8Array; readonly revision: PositionIndex } | undefined;
  /** In order of name. */
  readonly candidates: readonly StoredCandidate[];
  /** In order of key. */
  readonly guarded: readonly StoredGuardedValue[];
  readonly history: readonly StoredLine[];
  readonly isHistoryTruncated: boolean;
  readonly decisions: readonly { readonly id: string; readonly body: Uint8Array; readonly revision: PositionIndex }[];
}

/** What is remembered of one client. */
export interface StoredClient {
  readonly client: string;
  readonly floor: bigint;
  readonly outcomes: readonly {
    readonly number: bigint;
    readonly digest: number;
    readonly outcome: OutcomeFacts;
    readonly position: PositionIndex | undefined;
  }[];
}

/**
 * A partition's replicated state as plain data, in an order that depends on the state alone: two replicas that applied
 * the same batches take equal snapshots.
 */
export interface PartitionSnapshot {
  readonly formatVersion: 1;
  readonly partition: number;
  /** The last applied batch. */
  readonly sequence: bigint;
  readonly batchId: string;
  readonly epoch: bigint;
  readonly owner: string;
  readonly successor: string;
  readonly owesPause: boolean;
  readonly epochStart: PositionIndex;
  readonly nextId: number;
  readonly settings: Settings;
  readonly recovery: { readonly from: PositionIndex; readonly holdOffMs: number } | undefined;
  readonly snapshot: SnapshotReference | undefined;
  /** In order of sequence. */
  readonly positions: readonly StoredPosition[];
  /** In order of key. */
  readonly leases: readonly StoredLease[];
  /** From the least to the most recently changed. */
  readonly clients: readonly StoredClient[];
  readonly retiredClients: readonly { readonly client: string; readonly floor: bigint }[];
}
