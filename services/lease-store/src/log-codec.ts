import { batchIdOf, decodeBatch, encodeBatch, prevBatchIdOf, snapshotChunks } from "@tenure/contracts";
import { logDecoder } from "@tenure/reader";
import type { LogCodec } from "./replica/ports.ts";

/** Batches and snapshots as the deployment's protobuf. */
export const logCodec: LogCodec = {
  ...logDecoder,
  encodeBatch,
  decodeBatch,
  batchIdOf,
  prevBatchIdOf,
  snapshotChunks,
};
