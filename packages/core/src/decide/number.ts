import type { OwnedPartition } from "../partition/batch.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { openSequence } from "../record/position.ts";

/**
 * The token of the next term: above the sequence that the batch expects and above every token of the name (rule 5), so
 * it grows also across deletion and restore.
 */
export function nextToken({ batch }: OwnedPartition, record: LeaseRecord | undefined): bigint {
  const afterLog = batch.prev + 1n;
  const afterLast = (record?.lastToken ?? 0n) + 1n;
  return afterLog > afterLast ? afterLog : afterLast;
}

/** What one decision takes from the partition's numbers, before its events are applied. */
export interface Allotment {
  /** The next uid or hold id. */
  readonly nextId: () => number;
  /** Leases that the decision creates. */
  created: number;
}

/**
 * Gives uids and hold ids: each above all before it, and above the sequence that the batch expects. A restored stream
 * begins far above the old one, so ids that were given after the snapshot was taken are not given again.
 */
export function allot({ batch, state }: OwnedPartition): Allotment {
  let next = Math.max(state.nextId, Number(batch.prev) + 1);
  return { nextId: () => next++, created: 0 };
}

/** Whether the open batch may not begin a term of this lease: it has begun one, or it is its epoch's first. */
export function mustWaitForNextBatch({ batch, state }: OwnedPartition, record: LeaseRecord | undefined): boolean {
  const isFirstOfEpoch = state.epoch === 0n || state.epochStart.sequence === openSequence;
  return isFirstOfEpoch || (record !== undefined && batch.tokened.has(record.key));
}
