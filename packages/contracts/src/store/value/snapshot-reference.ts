import type { SnapshotReference as CoreSnapshotReference } from "@tenure/core";
import type { SnapshotReference } from "../../gen/tenure/log/v1/snapshot.ts";
import { bytesOfHex, hexOf } from "./text.ts";

/** The name of a snapshot object on the wire. */
export function snapshotReferenceToWire(reference: CoreSnapshotReference): SnapshotReference {
  const { digest, name, sequence, sizeBytes } = reference;
  return { name, sequence, digest: bytesOfHex(digest), size: BigInt(sizeBytes) };
}

/** The name of a snapshot object. */
export function snapshotReferenceFromWire(reference: SnapshotReference): CoreSnapshotReference {
  const { digest, name, sequence, size } = reference;
  return { name, sequence, digest: hexOf(digest), sizeBytes: Number(size) };
}
