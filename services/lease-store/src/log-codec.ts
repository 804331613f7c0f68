import { batchIdOf, decodeBatch, decodeSnapshot, encodeBatch, encodeSnapshot } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import type { LogCodec } from "./replica/ports.ts";

/** Batches and snapshots as the deployment's protobuf. */
export const logCodec: LogCodec = {
  encodeBatch,
  decodeBatch,
  batchIdOf,
  encodeSnapshot,
  decodeSnapshot(bytes, incarnationId) {
    const { origin, snapshot } = decodeSnapshot(bytes);
    if (origin.incarnationId === incarnationId) return snapshot;
    throw new Fault({
      code: "FAILED_PRECONDITION",
      reason: "INCARNATION_MISSING",
      message: `snapshot ${snapshot.partition}/${snapshot.sequence} is of incarnation ${origin.incarnationId}, not ${incarnationId}`,
    });
  },
};
