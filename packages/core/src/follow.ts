import { apply } from "./apply/apply.ts";
import type { Event } from "./partition/event.ts";
import type { PartitionState } from "./partition/state.ts";

/** One batch as it stands in the log (rule 2). */
export interface LoggedBatch {
  readonly partition: number;
  readonly epoch: bigint;
  /** Sequence of the partition's batch before this one. */
  readonly prev: bigint;
  /** The id of that batch; empty for the first. Sequences are given again when a log loses its end, ids are not. */
  readonly prevBatchId: string;
  /** Its own sequence. */
  readonly sequence: bigint;
  /** Its own id: 32 hexadecimal digits, fresh for every batch; the same batch appended again keeps it. */
  readonly batchId: string;
  /** The writer's wall clock in epoch ms; for people. */
  readonly wallMs: number;
  readonly events: readonly Event[];
}

/** The last batch that was read of a partition. */
export interface LastRead {
  readonly sequence: bigint;
  readonly batchId: string;
}

/** What became of a batch that a reader met. */
export type Followed =
  | { readonly kind: "applied" }
  /** It had been applied already. */
  | { readonly kind: "duplicate" }
  /** Batches are missing: load a snapshot and tell watchers to start over. */
  | { readonly kind: "gap"; readonly expectedPrev: bigint; readonly prev: bigint }
  /** The log does not chain: halt the partition and raise an alarm. */
  | { readonly kind: "broken"; readonly why: string };

/**
 * Applies a batch of the log at the instant `now` at which this replica saw it. Only the batch that follows the last
 * applied one is applied; anything else changes nothing.
 */
export function followBatch(state: PartitionState, batch: LoggedBatch, now: number): Followed {
  const judged = judgeBatch(state, batch);
  if (judged.kind !== "applied") return judged;
  const position = { sequence: batch.sequence, wallMs: batch.wallMs, seenAtMs: now };
  for (const event of batch.events) apply(state, event, position);
  state.lastSequence = batch.sequence;
  state.lastBatchId = batch.batchId;
  if (state.lastRead !== undefined && state.lastRead.sequence <= batch.sequence) state.lastRead = undefined;
  return judged;
}

function judgeBatch(state: PartitionState, batch: LoggedBatch): Followed {
  const { epoch, events, partition, prev, prevBatchId, sequence } = batch;
  if (partition !== state.partition)
    return broken(`batch ${sequence} is of partition ${partition}, not ${state.partition}`);
  if (sequence <= prev) return broken(`batch ${sequence} says that it follows ${prev}`);
  if (sequence <= state.lastSequence) return { kind: "duplicate" };
  if (prev < state.lastSequence)
    return broken(`batch ${sequence} follows ${prev}, but ${state.lastSequence} is applied`);
  if (prev > state.lastSequence) return { kind: "gap", expectedPrev: state.lastSequence, prev };
  if (prevBatchId !== state.lastBatchId || isReplaced(state.lastRead, batch)) {
    return broken(`${wentBack}: batch ${sequence} does not follow what was read before it`);
  }
  const opens = events[0]?.kind === "ownerChanged" ? events[0].epoch : undefined;
  const isChained = opens === undefined ? epoch === state.epoch : opens === epoch && epoch > state.epoch;
  return isChained ? { kind: "applied" } : broken(`batch ${sequence} is of epoch ${epoch} after epoch ${state.epoch}`);
}

/** Whether the place of a batch that was read is taken by another one, or passed over. */
function isReplaced(lastRead: LastRead | undefined, { batchId, prev, sequence }: LoggedBatch): boolean {
  if (lastRead === undefined || sequence < lastRead.sequence) return false;
  return sequence === lastRead.sequence ? batchId !== lastRead.batchId : prev < lastRead.sequence;
}

const wentBack = "the log went back";

function broken(why: string): Extract<Followed, { kind: "broken" }> {
  return { kind: "broken", why };
}

/** The last batch that whoever has this state has ever read of its partition. */
export function lastReadOf({ lastBatchId, lastRead, lastSequence }: PartitionState): LastRead {
  return lastRead ?? { sequence: lastSequence, batchId: lastBatchId };
}

/**
 * Has a state that was loaded anew remember what had been read before, so that a log which lost that is noticed also by
 * who reads it from an older place. Broken if the state itself shows it.
 */
export function keepLastRead(
  state: PartitionState,
  lastRead: LastRead,
): Extract<Followed, { kind: "broken" }> | undefined {
  if (lastRead.sequence > state.lastSequence) state.lastRead = lastRead;
  const isOther = lastRead.sequence === state.lastSequence && lastRead.batchId !== state.lastBatchId;
  return isOther
    ? broken(`${wentBack}: the snapshot at ${lastRead.sequence} is not of what was read there`)
    : undefined;
}
