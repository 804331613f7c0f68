import { decodeBatch, decodeSnapshotInSteps, type LeftOut } from "@tenure/contracts";
import type { LoggedBatch, PartitionSnapshot, SnapshotReference } from "@tenure/core";
import { Fault } from "@tenure/kernel";

/** A batch with what a reader needs to know of where it comes from. */
export interface ReadableBatch extends LoggedBatch {
  readonly incarnationId: string;
  /** The latest snapshot when it was written. */
  readonly snapshot: SnapshotReference | undefined;
}

/** How batches and snapshots are read from bytes. */
export interface LogDecoder {
  decodeBatch(sequence: bigint, payload: Uint8Array, leftOut?: LeftOut): ReadableBatch;
  /** The snapshot of an object, in steps of a few ms. Refuses another incarnation's. */
  decodeSnapshot(bytes: Uint8Array, incarnationId: string): Generator<unknown, PartitionSnapshot, void>;
}

/** Batches and snapshots as the deployment's protobuf. */
export const logDecoder: LogDecoder = {
  decodeBatch,
  *decodeSnapshot(bytes, incarnationId) {
    const { origin, snapshot } = yield* decodeSnapshotInSteps(bytes);
    if (origin.incarnationId === incarnationId) return snapshot;
    throw new Fault({
      code: "FAILED_PRECONDITION",
      reason: "INCARNATION_MISSING",
      message: `snapshot ${snapshot.partition}/${snapshot.sequence} is of incarnation ${origin.incarnationId}, not ${incarnationId}`,
    });
  },
};
