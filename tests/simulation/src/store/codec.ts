import { batchIdOf, decodeBatch, encodeBatch, prevBatchIdOf, snapshotChunks } from "@tenure/contracts";
import type { LogCodec } from "@tenure/lease-store/replica";
import { logDecoder } from "@tenure/reader";

/** Batches and snapshots as the deployment's protobuf. */
export const codec: LogCodec = {
  ...logDecoder,
  encodeBatch,
  decodeBatch,
  batchIdOf,
  prevBatchIdOf,
  snapshotChunks,
};
