import { apply } from "./apply/apply.ts";
import type { Event } from "./partition/event.ts";
import type { PartitionState } from "./partition/state.ts";

/** One batch as it stands in the log (rule 2). */
export interface LoggedBatch {
  readonly partition: number;
  readonly epoch: bigint;
  /** Sequence of the partition's batch before this one. */
  readonly prev: bigint;
  /** Its own sequence. */
  readonly sequence: bigint;
  /** The writer's wall clock in epoch ms; for people. */
  readonly wallMs: number;
  readonly events: readonly Event[];
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
  return judged;
}

function judgeBatch(state: PartitionState, { epoch, events, partition, prev, sequence }: LoggedBatch): Followed {
  if (partition !== state.partition)
    return broken(`batch ${sequence} is of partition ${partition}, not ${state.partition}`);
  if (sequence <= prev) return broken(`batch ${sequence} says that it follows ${prev}`);
  if (sequence <= state.lastSequence) return { kind: "duplicate" };
  if (prev < state.lastSequence)
    return broken(`batch ${sequence} follows ${prev}, but ${state.lastSequence} is applied`);
  if (prev > state.lastSequence) return { kind: "gap", expectedPrev: state.lastSequence, prev };
  const opens = events[0]?.kind === "ownerChanged" ? events[0].epoch : undefined;
  const isChained = opens === undefined ? epoch === state.epoch : opens === epoch && epoch > state.epoch;
  return isChained ? { kind: "applied" } : broken(`batch ${sequence} is of epoch ${epoch} after epoch ${state.epoch}`);
}

function broken(why: string): Followed {
  return { kind: "broken", why };
}

/**
 * Whether the log has gone back: its last sequence for the partition is below one that this replica has applied. Then
 * the partition halts and an alarm is raised, because acknowledged changes are gone.
 */
export function hasLogGoneBack(state: PartitionState, lastSubjectSequence: bigint): boolean {
  return lastSubjectSequence < state.lastSequence;
}
