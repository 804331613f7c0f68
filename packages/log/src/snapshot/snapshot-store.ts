import { createHash } from "node:crypto";
import { Fault } from "@tenure/kernel";

/** Names one object exactly: what its name holds can be checked. */
export interface SnapshotObject {
  /** `<partition>/<sequence>`: see {@link snapshotName}. */
  readonly name: string;
  /** Hexadecimal SHA-256 of its bytes. */
  readonly digest: string;
  readonly sizeBytes: number;
}

/**
 * Where snapshots are kept. Objects are never changed, are read by name and digest, and are never listed, so a stale
 * answer of the store can delay a reader but not mislead it.
 */
export interface SnapshotStore {
  /**
   * Keeps an object; when this resolves it is complete and durable. The same bytes under the same name again change
   * nothing. Rejects with ALREADY_EXISTS when the name holds other bytes, with UNAVAILABLE when the store does not take
   * it in time: then it may be kept later, and the same call may be made again.
   */
  put(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<SnapshotObject>;
  /**
   * The object's bytes, checked against size and digest. Rejects with NOT_FOUND when the store goes on not knowing it,
   * with DATA_LOSS when it holds something else, with UNAVAILABLE when it does not answer.
   */
  get(object: SnapshotObject, signal?: AbortSignal): Promise<Uint8Array>;
}

/** The name of the snapshot of a partition at a log position. */
export function snapshotName(partition: number, sequence: bigint): string {
  return `${partition}/${sequence}`;
}

/** The parts of a snapshot's name; INVALID_ARGUMENT when it is none. */
export function parseSnapshotName(name: string): { readonly partition: number; readonly sequence: bigint } {
  const [, partition, sequence] = /^(\d{1,5})\/(\d{1,19})$/.exec(name) ?? [];
  if (partition !== undefined && sequence !== undefined) {
    return { partition: Number(partition), sequence: BigInt(sequence) };
  }
  throw new Fault({
    code: "INVALID_ARGUMENT",
    reason: "SNAPSHOT_NAME_INVALID",
    message: `snapshot name ${JSON.stringify(name.slice(0, 60))} is not of the form <partition>/<sequence>`,
  });
}

/** What names these bytes. */
export function describeObject(name: string, bytes: Uint8Array): SnapshotObject {
  return { name, digest: createHash("sha256").update(bytes).digest("hex"), sizeBytes: bytes.byteLength };
}

/** Returns the bytes if they are the object's, and throws DATA_LOSS otherwise. */
export function checkObject(object: SnapshotObject, bytes: Uint8Array): Uint8Array {
  const found = describeObject(object.name, bytes);
  if (found.digest === object.digest && found.sizeBytes === object.sizeBytes) return bytes;
  throw mismatchFault(object, `${found.sizeBytes} bytes with digest ${found.digest}`);
}

/** The fault of an object that holds something else than the log says; `found` says what. */
export function mismatchFault({ digest, name, sizeBytes }: SnapshotObject, found: string): Fault {
  return new Fault({
    code: "DATA_LOSS",
    reason: "SNAPSHOT_DIGEST_MISMATCH",
    message: `snapshot ${name} has ${found}, the log says ${sizeBytes} bytes with digest ${digest}: a replica that has the partition in memory makes a new one in time`,
  });
}

/** The fault of a name that holds other bytes. */
export function existsFault(object: SnapshotObject): Fault {
  return new Fault({
    code: "ALREADY_EXISTS",
    reason: "SNAPSHOT_EXISTS",
    message: `snapshot ${object.name} is kept already, with other contents than digest ${object.digest}: take the next one at a later position`,
  });
}

/** The fault of a name that the store does not know. */
export function missingFault(name: string): Fault {
  return new Fault({
    code: "NOT_FOUND",
    reason: "SNAPSHOT_MISSING",
    message: `snapshot ${name} is not in the object store: it may be outdated, look for the latest one in the log`,
  });
}
