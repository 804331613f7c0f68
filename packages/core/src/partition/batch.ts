import { type ExpiryGuard, newExpiryGuard } from "../expiry-guard.ts";
import type { LeaseKey } from "../key.ts";
import { openSequence, type Position } from "../record/position.ts";
import { newWaiters, type Waiters } from "../waiting/waiters.ts";
import type { Event } from "./event.ts";
import type { PartitionState } from "./state.ts";

/** A batch that takes decisions and has not been acknowledged. */
export interface OpenBatch {
  /** Shared by everything that the batch touches; gets its sequence at the commit. */
  readonly position: Position;
  /** The sequence that the append expects; tokens of this batch are above it. */
  readonly prev: bigint;
  /** The id of the batch at `prev`; empty when there is none. */
  readonly prevBatchId: string;
  readonly events: Event[];
  /** Leases that got a token in this batch: at most one new term each (rule 5). */
  readonly tokened: Set<LeaseKey>;
}

/** A partition as its owner decides on it: the replicated state, and what the owner alone knows. */
export interface OwnedPartition {
  readonly state: PartitionState;
  readonly waiters: Waiters;
  /** Leases with a queue that something happened to; settled in this batch or the next, see `settleWaiters`. */
  readonly stirred: Set<LeaseKey>;
  guard: ExpiryGuard;
  batch: OpenBatch;
}

/**
 * Begins to decide on a partition. The state must hold every batch up to its last sequence. The guard says whether
 * holders are owed time to renew before anybody expires; see `guardOf`.
 */
export function ownPartition(
  state: PartitionState,
  now: number,
  wallMs: number,
  guard: ExpiryGuard = newExpiryGuard(),
): OwnedPartition {
  const batch = newBatch(state, now, wallMs);
  return { state, waiters: newWaiters(), stirred: new Set(), guard, batch };
}

/**
 * Opens the next batch. Only one is open at a time: the one before must have been committed. If its append was lost
 * the whole state is void, and the replica loads it anew.
 */
export function openBatch(owned: OwnedPartition, now: number, wallMs: number): OpenBatch {
  if (owned.batch.position.sequence === openSequence && owned.batch.events.length > 0) {
    throw new Error(`partition ${owned.state.partition} has an open batch of ${owned.batch.events.length} events`);
  }
  owned.batch = newBatch(owned.state, now, wallMs);
  return owned.batch;
}

function newBatch(state: PartitionState, now: number, wallMs: number): OpenBatch {
  return {
    position: { sequence: openSequence, wallMs, seenAtMs: now },
    prev: state.lastSequence,
    prevBatchId: state.lastBatchId,
    events: [],
    tokened: new Set(),
  };
}

/**
 * Commits the open batch, which was appended under this id, at the sequence that its append was acknowledged with. From here on its replies may leave and
 * their positions have a sequence.
 */
export function commitBatch(owned: OwnedPartition, sequence: bigint, batchId: string): void {
  const { batch, state } = owned;
  if (sequence <= batch.prev) {
    throw new Error(`partition ${state.partition} committed at ${sequence}, which is not after ${batch.prev}`);
  }
  batch.position.sequence = sequence;
  state.lastSequence = sequence;
  state.lastBatchId = batchId;
}
