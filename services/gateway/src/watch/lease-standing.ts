import { isOfSystem, type LeaseRecord, leaseStateOf } from "@tenure/core";

/** Where a lease stands when leases are counted. `leaderless`: it has candidates and no holder. */
export type LeaseStanding = "held" | "ending" | "free" | "leaderless" | "deleted";

/**
 * Where a lease stands; undefined for what does not count: names without a lease, and leases of the system itself. The
 * one definition of what `tenure status` and the metrics count.
 */
export function standingOf(record: LeaseRecord, now: number): LeaseStanding | undefined {
  if (record.created === undefined || isOfSystem(record.key)) return undefined;
  const state = leaseStateOf(record, now);
  if (state === "tombstone") return "deleted";
  if (record.isHeld) return state === "ending" ? "ending" : "held";
  return (record.candidates?.size ?? 0) > 0 ? "leaderless" : "free";
}
