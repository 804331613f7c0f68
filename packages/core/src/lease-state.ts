import { isEnding } from "./decide/overdue.ts";
import type { LeaseRecord } from "./record/lease.ts";
import { remainingMs } from "./record/position.ts";

/** A lease's record at a glance. `absent`: no lease of this name exists, though something is kept under it. */
export type LeaseState = "absent" | "free" | "held" | "pending" | "ending" | "lockDelay" | "tombstone";

/** What a record says at a glance, on the clock of the replica that is asked. */
export function leaseStateOf(record: LeaseRecord, now: number): LeaseState {
  const { holds, lockDelay, pending } = record;
  if (record.deletion !== undefined) return "tombstone";
  if (record.created === undefined) return "absent";
  if (holds.length > 0) {
    if (holds.every((hold) => hold.revocation !== undefined)) return "tombstone";
    return holds.some((hold) => isEnding(record, hold)) ? "ending" : "held";
  }
  if (pending !== undefined) return "pending";
  const isDelayed = lockDelay !== undefined && remainingMs(lockDelay.from, lockDelay.delayMs, now) > 0;
  return isDelayed ? "lockDelay" : "free";
}

/**
 * Ms until, at the earliest, the owner may grant the lease to another for want of renewals; 0 when it may now. A hint
 * for people: a renewal moves it, and an outage of the store delays it.
 */
export function freeAfterMs(record: LeaseRecord, now: number): number {
  const waits = record.holds.map((hold) => remainingMs(hold.renewal, hold.leaseDurationMs, now) + hold.lockDelayMs);
  if (record.pending !== undefined) waits.push(remainingMs(record.pending.from, record.pending.acceptWindowMs, now));
  if (record.lockDelay !== undefined) waits.push(remainingMs(record.lockDelay.from, record.lockDelay.delayMs, now));
  return Math.max(0, ...waits);
}
