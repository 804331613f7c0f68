import { mayExpire } from "../expiry-guard.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import type { Refusal } from "../partition/reply.ts";
import { type LeaseRecord, renewalRevisionOf } from "../record/lease.ts";
import { openSequence, remainingMs } from "../record/position.ts";
import { answer, type Decision, timed } from "./decision.ts";
import { endByTime, lapsePending } from "./end.ts";
import { isLapsed, judgeHolds, untilOverdueMs } from "./overdue.ts";
import { checkRevision, revisionConflict } from "./permission.ts";

/** Terms that one command ends, so that a batch never grows too large for the log; the lease stays due for the rest. */
const endedAtOnce = 256;

/**
 * Ends what is overdue on one lease: terms that were not renewed for L, and a choice that was not accepted. Whoever
 * asks, the owner judges anew on its own clock and against its own view of the store (rules 6 and 17).
 */
export function decideExpire(owned: OwnedPartition, command: CommandOf<"expire">, now: number): Decision {
  const { lease } = command;
  const record = owned.state.leases.get(lease);
  if (record === undefined) return answer({ kind: "leaseNotFound", lease });
  const stale =
    checkRevision(lease, record, command.expectedRevision) ??
    checkRenewalRevision(record, command.expectedRenewalRevision);
  if (stale !== undefined) return answer(stale);
  const { ending } = judgeHolds(owned, record, now);
  const ended = ending.slice(0, endedAtOnce).flatMap((hold) => endByTime(record, hold, now));
  const lapsed = isLapsed(record, now) ? lapsePending(record) : [];
  const events = [...lapsed, ...ended].map(timed);
  if (events.length === 0) return answer(notDue(owned, record, now));
  return { events, reply: { kind: "changed", lease, position: owned.batch.position } };
}

/** Whether the newest renewal is the expected one, so that a term renewed in between is spared. */
export function checkRenewalRevision(record: LeaseRecord, expected: bigint | undefined): Refusal | undefined {
  if (expected === undefined) return undefined;
  const revision = renewalRevisionOf(record);
  const isOpen = record.holds.some((hold) => hold.renewal.sequence === openSequence);
  return revision === expected && !isOpen
    ? undefined
    : revisionConflict(record.key, expected, () => renewalRevisionOf(record));
}

function notDue(owned: OwnedPartition, record: LeaseRecord, now: number): Refusal {
  const permission = mayExpire(owned.guard, now);
  const dueMs = untilDueMs(record, now) ?? 0;
  const pauseMs = permission.kind === "paused" ? permission.untilMs - now : 0;
  const needsProbe = dueMs === 0 && record.holds.length > 0 && permission.kind === "probeFirst";
  return { kind: "notDue", lease: record.key, retryAfterMs: Math.max(dueMs, pauseMs), needsProbe };
}

/**
 * Ms until something on a lease is due on this replica's clock: a term's end for want of renewals, a choice's lapse, or
 * the end of a lock delay that keeps waiters back. Undefined when nothing is. What an owner's timers are set to.
 */
export function untilDueMs(record: LeaseRecord, now: number): number | undefined {
  let dueMs: number | undefined;
  const consider = (ms: number) => {
    if (dueMs === undefined || ms < dueMs) dueMs = ms;
  };
  for (const hold of record.holds) consider(untilOverdueMs(hold, now));
  if (record.pending !== undefined) consider(remainingMs(record.pending.from, record.pending.acceptWindowMs, now));
  if (record.lockDelay !== undefined && record.holds.length === 0) {
    const delayMs = remainingMs(record.lockDelay.from, record.lockDelay.delayMs, now);
    if (delayMs > 0) consider(delayMs);
  }
  return dueMs;
}
