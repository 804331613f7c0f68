import { type OwnedPartition, type Settled, settleWaiters } from "@tenure/core";
import type { BatchSize } from "./batch-size.ts";
import { type Call, CommandCall } from "./call.ts";
import { fullBatchBytes } from "./options.ts";
import type { WaitingCalls } from "./waiting-calls.ts";

/** What a batch took of the queue. */
export interface Filled {
  readonly answered: readonly Call[];
  /** What the next batch takes, in order. */
  readonly rest: Call[];
  /** A command asked for the next batch: this one is appended even if it is empty. */
  readonly needsAppend: boolean;
}

/** Takes queued calls into the open batch, in order, until it is full. Calls whose callers have gone are dropped. */
export function fillBatch(
  owned: OwnedPartition,
  queue: readonly Call[],
  waiting: WaitingCalls,
  most: number,
  size: BatchSize,
  now: number,
): Filled {
  const answered: Call[] = [];
  const again: Call[] = [];
  let taken = 0;
  while (taken < queue.length && answered.length < most && size.bytes < fullBatchBytes) {
    const call = queue[taken];
    taken += 1;
    if (call === undefined || call.isSettled) continue;
    const result = call.take(owned, now);
    if (result.kind === "again") again.push(call);
    else if (result.kind === "answered") answered.push(call);
    else if (call instanceof CommandCall) waiting.add(result.waiterId, call);
  }
  return { answered, rest: [...again, ...queue.slice(taken)], needsAppend: again.length > 0 };
}

/** What one settled wait may add to a batch beside the claimant's own value: 16 grants with their records. */
const settledBytes = 12_288;
/** What is left for them beside a full batch of commands. */
const settlingBytes = 262_144;

/**
 * Grants waiting claims in the same batch as what freed their leases. As many as surely fit: each lease grants at most
 * one term per batch; the others stay stirred for the next one.
 */
export function settleWithin(owned: OwnedPartition, now: number): readonly Settled[] {
  const { holdValueBytes } = owned.state.settings.limits;
  const most = Math.max(1, Math.floor(settlingBytes / (settledBytes + holdValueBytes)));
  if (owned.stirred.size <= most) return settleWaiters(owned, now);
  const later = [...owned.stirred].slice(most);
  for (const lease of later) owned.stirred.delete(lease);
  const settled = settleWaiters(owned, now);
  for (const lease of later) owned.stirred.add(lease);
  return settled;
}
