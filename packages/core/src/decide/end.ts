import type { EventBody } from "../partition/event.ts";
import type { Hold, TermEndReason } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { elapsedMs } from "../record/position.ts";
import { overdueReason } from "./overdue.ts";

/** No back-off for missed accepts is longer than this. */
const longestBackoffMs = 60_000;

/** Ends of term after which the candidate that lost it sits out the lease's cool-down. */
const losses: ReadonlySet<TermEndReason> = new Set(["expired", "ended", "preempted", "steppedDown"]);

/** The facts of a term that its holder ended: grants are possible at once. */
export function endByHolder(record: LeaseRecord, hold: Hold, endReason: TermEndReason, now: number): EventBody[] {
  return endHold(record, hold, endReason, 0, now);
}

/** The facts of a term that ran out: the lock delay follows, because its holder may still be acting. */
export function endByTime(record: LeaseRecord, hold: Hold, now: number): EventBody[] {
  return endHold(record, hold, overdueReason(record, hold, now), hold.lockDelayMs, now);
}

function endHold(
  record: LeaseRecord,
  hold: Hold,
  endReason: TermEndReason,
  lockDelayMs: number,
  now: number,
): EventBody[] {
  const { key: lease, preferredHolder: successor } = record;
  const heldForMs = Math.round(elapsedMs(hold.granted, now));
  const { id: holdId, token } = hold;
  const events: EventBody[] = [
    { kind: "holdEnded", lease, holdId, token, endReason, heldForMs, successor, lockDelayMs },
  ];
  const mark = record.endOfTerm?.token === token ? record.endOfTerm : undefined;
  const coolDownMs = mark?.coolDownMs ?? record.spec.coolDownMs;
  const candidate = hold.details?.candidate;
  if (candidate !== undefined && record.candidates?.has(candidate) && losses.has(endReason) && coolDownMs > 0) {
    events.push({ kind: "candidateCooledDown", lease, candidate, coolDownMs, hasMissedAccept: false });
  }
  return events;
}

/**
 * The facts of a choice that was not accepted: the candidate sits out the accept window, doubled for each miss in a
 * row, or the lease's cool-down if that is longer (rule 18).
 */
export function lapsePending(record: LeaseRecord): EventBody[] {
  const { key: lease, pending } = record;
  if (pending === undefined) return [];
  const { token, candidate } = pending;
  const events: EventBody[] = [{ kind: "pendingLapsed", lease, token, candidate }];
  const missed = record.candidates?.get(candidate)?.missedAccepts;
  if (missed !== undefined) {
    const backoffMs = Math.min(longestBackoffMs, pending.acceptWindowMs * 2 ** Math.min(missed, 16));
    const coolDownMs = Math.max(record.spec.coolDownMs, backoffMs);
    events.push({ kind: "candidateCooledDown", lease, candidate, coolDownMs, hasMissedAccept: true });
  }
  return events;
}
