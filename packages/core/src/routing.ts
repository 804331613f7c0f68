import { hash32 } from "./hash.ts";
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
