import { NamedItems } from "@tenure/kernel";
import type { LeaseKey } from "../key.ts";
import type { CommandOf } from "../partition/command.ts";

/** One claim that waits. Volatile: after a change of owner it is sent again with its age (rule 10). */
export interface Waiter {
  /** The client key and attempt number of the claim. */
  readonly id: string;
  readonly client: string;
  readonly command: CommandOf<"acquire">;
  /** When it began to wait, at whatever owner, on this owner's clock. Decides the order. */
  readonly arrivedAtMs: number;
  readonly ticket: number;
  /** The wait is over at this instant; infinite if it has no timeout. */
  readonly endsAtMs: number;
  /** Skipped after this long without a beat: 2R + T. */
  readonly silentAfterMs: number;
  /** Forgotten after this long without a beat. */
  readonly forgottenAfterMs: number;
  lastBeatAtMs: number;
  /** The newest beat or send received; a grant names it (rule 12). */
  beatNumber: bigint;
}

/** The queues of one owner, first come first served. */
export interface Waiters {
  readonly byId: NamedItems<Waiter>;
  readonly queues: Map<LeaseKey, Waiter[]>;
  /** When time alone may let a queue move: the end of a term, a lock delay, a fallback delay or a recovery. */
  readonly lookAgainAtMs: Map<LeaseKey, number>;
  nextTicket: number;
}

/** Queues of an owner that has just begun. */
export function newWaiters(): Waiters {
  return { byId: new NamedItems(), queues: new Map(), lookAgainAtMs: new Map(), nextTicket: 1 };
}

/** The name under which a claim waits. */
export function waiterId(client: string, attemptNumber: bigint): string {
  return `${client}#${attemptNumber}`;
}

/** Whether a waiter has beaten lately enough to be granted anything. */
export function isLive(waiter: Waiter, now: number): boolean {
  return now - waiter.lastBeatAtMs <= waiter.silentAfterMs && now < waiter.endsAtMs;
}

/** Puts a waiter into the queue of each lease that it claims, by when it began to wait. */
export function enqueue(waiters: Waiters, waiter: Waiter): void {
  waiters.byId.set(waiter.id, waiter);
  for (const { lease } of waiter.command.claims) {
    const queue = waiters.queues.get(lease);
    if (queue === undefined) waiters.queues.set(lease, [waiter]);
    else queue.splice(placeOf(queue, waiter), 0, waiter);
  }
}

function placeOf(queue: readonly Waiter[], waiter: Waiter): number {
  let place = queue.length;
  while (place > 0 && isBefore(waiter, queue[place - 1])) place--;
  return place;
}

function isBefore(left: Waiter, right: Waiter | undefined): boolean {
  if (right === undefined) return false;
  return left.arrivedAtMs !== right.arrivedAtMs ? left.arrivedAtMs < right.arrivedAtMs : left.ticket < right.ticket;
}

/** Takes a waiter out of every queue; false if it was in none. */
export function leaveQueue(waiters: Waiters, id: string): boolean {
  const waiter = waiters.byId.delete(id);
  if (waiter === undefined) return false;
  for (const { lease } of waiter.command.claims) {
    const queue = waiters.queues.get(lease);
    const place = queue?.indexOf(waiter) ?? -1;
    // In place: a list of those who are left would be made at every hand-over.
    if (place >= 0) queue?.splice(place, 1);
    if (queue === undefined || queue.length === 0) forgetQueue(waiters, lease);
  }
  return true;
}

function forgetQueue({ lookAgainAtMs, queues }: Waiters, lease: LeaseKey): void {
  queues.delete(lease);
  lookAgainAtMs.delete(lease);
}

/** Notes a numbered beat of a wait; false if this owner does not know it, so that the claim is sent again. */
export function noteBeat(waiters: Waiters, id: string, beatNumber: bigint, now: number): boolean {
  const waiter = waiters.byId.get(id);
  if (waiter === undefined) return false;
  waiter.lastBeatAtMs = now;
  if (beatNumber > waiter.beatNumber) waiter.beatNumber = beatNumber;
  return true;
}

/** How many waiters stand in a lease's queue. */
export function waitersOf(waiters: Waiters, lease: LeaseKey): number {
  return waiters.queues.get(lease)?.length ?? 0;
}

/**
 * Whether a live waiter for this lease alone stands in its queue, so that a new claim may not pass it. One that claims
 * several leases keeps its place but holds nobody up: what it waits for may be another lease.
 */
export function isAnyoneWaiting(waiters: Waiters, lease: LeaseKey, now: number): boolean {
  const queue = waiters.queues.get(lease);
  return queue?.some((waiter) => waiter.command.claims.length === 1 && isLive(waiter, now)) ?? false;
}

/** Takes out all whose wait is over or who have been silent for too long, and returns them. */
export function endWaits(waiters: Waiters, now: number): readonly Waiter[] {
  const ended: Waiter[] = [];
  for (const waiter of waiters.byId.all) {
    if (now >= waiter.endsAtMs || now - waiter.lastBeatAtMs > waiter.forgottenAfterMs) ended.push(waiter);
  }
  for (const waiter of ended) leaveQueue(waiters, waiter.id);
  return ended;
}
