import type { LoggedBatch, PartitionSnapshot, SnapshotReference } from "@tenure/core";
import type { Clock, Random } from "@tenure/kernel";
import type { CommitOutcome, LogTransport, SnapshotStore } from "@tenure/log";

/** Appends one batch at a time and resolves unknown outcomes (rule 3); rejects only when `signal` is aborted. */
export interface PartitionWriter {
  commit(payload: Uint8Array, prev: bigint, signal: AbortSignal, inDoubt: boolean): Promise<CommitOutcome>;
}

/** A batch with all that the log says about it (rule 2). */
export interface StoredBatch extends LoggedBatch {
  readonly writer: string;
  readonly incarnationId: string;
  /** The latest snapshot when it was written. */
  readonly snapshot: SnapshotReference | undefined;
}

/** How batches and snapshots are written as bytes. */
export interface LogCodec {
  encodeBatch(batch: Omit<StoredBatch, "sequence">): Uint8Array;
  decodeBatch(sequence: bigint, payload: Uint8Array): StoredBatch;
  /** The id of an encoded batch, without decoding the rest; undefined if the bytes are no batch. */
  batchIdOf(payload: Uint8Array): string | undefined;
  /** The id of the batch that an encoded one follows; empty if there is none. */
  prevBatchIdOf(payload: Uint8Array): string;
  /** The object of a snapshot in pieces, in order; each takes a few ms to make, and the caller may pause between them. */
  snapshotChunks(snapshot: PartitionSnapshot, header: SnapshotHeader): Iterable<Uint8Array>;
  /** The snapshot of an object, in steps of a few ms. Refuses another incarnation's. */
  decodeSnapshot(bytes: Uint8Array, incarnationId: string): Generator<unknown, PartitionSnapshot, void>;
}

/** What a snapshot says about its making. */
export interface SnapshotHeader {
  readonly incarnationId: string;
  readonly writer: string;
  readonly wallMs: number;
  /** The snapshot before; the log may be purged strictly below that one. */
  readonly previous: SnapshotReference | undefined;
}

/** Everything that a replica needs of the world. */
export interface ReplicaPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Pick<LogTransport, "tail" | "readAfter" | "readLast">;
  readonly snapshots: SnapshotStore;
  readonly codec: LogCodec;
  /** The writer of one partition. */
  writerOf(partition: number): PartitionWriter;
  /**
   * Resolves when what others have sent by now has left the process. Whoever decides next takes its turn then, so that one
   * partition's append is under way while the next one decides. Default: at once.
   */
  readonly turn?: () => Promise<void>;
  /** Resolves when the answers that were given in this turn have left the process. Default: at once. */
  readonly sent?: () => Promise<void>;
}
