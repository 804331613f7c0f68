import { mayExpire } from "../expiry-guard.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { Hold, TermEndReason } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { elapsedMs, remainingMs } from "../record/position.ts";

/** Ms until the owner may end a term for want of renewals; 0 when L has passed exactly (statement 5). */
export function untilOverdueMs(hold: Hold, now: number): number {
  return remainingMs(hold.renewal, hold.leaseDurationMs, now);
}

/** The terms of a lease that can be ended now, and those that stay. */
export interface Judgement {
  readonly ending: readonly Hold[];
  readonly staying: readonly Hold[];
}

const nobody: Judgement = Object.freeze({ ending: Object.freeze([]), staying: Object.freeze([]) });

/**
 * Judges the terms of a lease anew on the owner's clock (rule 17). Nothing is overdue while the store's outage keeps
 * holders from renewing.
 */
export function judgeHolds(owned: OwnedPartition, record: LeaseRecord, now: number): Judgement {
  if (!record.isHeld) return nobody;
  const { holds } = record;
  const ending = holds.filter((hold) => untilOverdueMs(hold, now) === 0);
  if (ending.length === 0 || mayExpire(owned.guard, now).kind !== "allowed") return { ending: [], staying: holds };
  return { ending, staying: holds.filter((hold) => !ending.includes(hold)) };
}

/** Ms until a term may be ended, by its own clock and by the pause after an outage. */
export function retryAfterMs(owned: OwnedPartition, hold: Hold, now: number): number {
  const permission = mayExpire(owned.guard, now);
  const pauseMs = permission.kind === "paused" ? permission.untilMs - now : 0;
  return Math.max(untilOverdueMs(hold, now), pauseMs);
}

/** Why a term that ran out ended: as revoked or deleted, at its end of term, or for want of renewals. */
export function overdueReason(record: LeaseRecord, hold: Hold, now: number): TermEndReason {
  if (hold.revocation !== undefined) return hold.revocation.endReason;
  if (record.deletion !== undefined) return record.deletion.endReason;
  return isDrained(record, hold, now) ? "ended" : "expired";
}

/** Whether a term is marked to end. */
export function isEnding(record: LeaseRecord, hold: Hold): boolean {
  return record.endOfTerm?.token === hold.token;
}

/** Whether a term is marked to end and its drain bound has passed, so that renewals are refused (rule 20). */
export function isDrained(record: LeaseRecord, hold: Hold, now: number): boolean {
  const mark = record.endOfTerm;
  return mark?.token === hold.token && elapsedMs(mark.marked, now) >= mark.drainBoundMs;
}

/** Whether a choice was not accepted within its window; at exactly the window it was not. */
export function isLapsed(record: LeaseRecord, now: number): boolean {
  return record.pending !== undefined && remainingMs(record.pending.from, record.pending.acceptWindowMs, now) === 0;
}
