import { addToHash, emptyHash, endHash, hash32 } from "./hash.ts";
import { type LeaseKey, nameOf, namespaceOf } from "./key.ts";

/**
 * The part of a lease's key that decides its partition: the namespace, and the name up to the first `:`. Leases with
 * the same routing part share a partition and can be taken all-or-nothing.
 */
export function routingPart(key: LeaseKey): string {
  const colon = key.indexOf(":");
  return colon < 0 ? key : `${namespaceOf(key)}/${nameOf(key).slice(0, colon - key.indexOf("/") - 1)}`;
}

/**
 * The partition of a lease: a function of its key and of the number of partitions that `init` wrote, and of nothing
 * else. A candidate and guarded data live where their lease does.
 */
export function partitionOf(key: LeaseKey, partitions: number): number {
  return hash32(routingPart(key)) % partitions;
}

/** A stretch of bytes: from `start` to before `end`. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

const slash = new Uint8Array([0x2f]);
const colon = 0x3a;

/** The same of a lawful key whose namespace and name stand in a message as UTF-8, which need not be decoded for it. */
export function partitionOfBytes(bytes: Uint8Array, namespace: ByteSpan, name: ByteSpan, partitions: number): number {
  const colonAt = bytes.indexOf(colon, name.start);
  const nameEnd = colonAt < 0 ? name.end : Math.min(colonAt, name.end);
  const ofNamespace = addToHash(emptyHash, bytes, namespace.start, namespace.end);
  const ofSlash = addToHash(ofNamespace, slash, 0, 1);
  return endHash(addToHash(ofSlash, bytes, name.start, nameEnd)) % partitions;
}
