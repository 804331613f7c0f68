import { batchIdOf, decodeBatch, decodeSnapshot, encodeBatch, encodeSnapshot } from "@tenure/contracts";
import type { LogCodec } from "@tenure/lease-store/replica";

/** Batches and snapshots as the deployment's protobuf. */
export const codec: LogCodec = {
  encodeBatch,
  decodeBatch,
  batchIdOf,
  encodeSnapshot,
  decodeSnapshot: (bytes) => decodeSnapshot(bytes).snapshot,
};
