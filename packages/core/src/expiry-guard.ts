import type { PartitionState } from "./partition/state.ts";

/**
 * What an owner knows of its store, so that an outage expires nobody who could not renew (rule 17). Plain data; the
 * functions below return the next state.
 */
export interface ExpiryGuard {
  /** When the last acknowledged append was answered; undefined before the first. */
  readonly lastAckAtMs: number | undefined;
  /** Whether an outage goes on: the connection dropped, or an append took too long and none was prompt since. */
  readonly isOutage: boolean;
  /** When the connection last dropped. What was sent until then ends no outage, however late its answer is taken in. */
  readonly lostAtMs: number;
  /** Whether this outage has had its pause; there is one per outage, so that a slow store still expires the dead. */
  readonly hadPause: boolean;
  /** Nobody expires before this. */
  readonly pausedUntilMs: number;
}

/** R + T: how long a holder needs after an outage to get a renewal through; rule 17 adds one second. */
export interface GuardTiming {
  readonly renewIntervalMs: number;
  readonly requestTimeoutMs: number;
}

/** How recent an acknowledged append must be before anyone is expired, and how long a prompt one may take. */
export const promptAppendMs = 1_000;

/** The guard of an owner that found everything in order: it may expire nobody before its first acknowledged append. */
export function newExpiryGuard(): ExpiryGuard {
  const never = Number.NEGATIVE_INFINITY;
  return { lastAckAtMs: undefined, isOutage: false, lostAtMs: never, hadPause: false, pausedUntilMs: never };
}

/**
 * The guard of a replica that is about to become the owner of a partition. Only what its owner handed to this very
 * replica, and what nobody ever owned, begins in order. Whoever takes over otherwise cannot know since when holders
 * could not renew: that was an outage, and they get their time after the first acknowledged append.
 */
export function guardOf({ epoch, owesPause, successor }: PartitionState, instance: string): ExpiryGuard {
  const isInOrder = epoch === 0n || (successor === instance && !owesPause);
  return isInOrder ? newExpiryGuard() : { ...newExpiryGuard(), isOutage: true };
}

/** The connection to the store dropped: a new outage, which gets its own pause. */
export function noteConnectionLost(guard: ExpiryGuard, now: number): ExpiryGuard {
  return { ...guard, isOutage: true, lostAtMs: now, hadPause: false };
}

/** Whether an append that was sent at `sentAtMs` and is acknowledged now is the first after an outage, or was one itself. */
export function followsOutage({ hadPause, isOutage }: ExpiryGuard, sentAtMs: number, now: number): boolean {
  return (isOutage || !isPrompt(sentAtMs, now)) && !hadPause;
}

function isPrompt(sentAtMs: number, now: number): boolean {
  return now - sentAtMs <= promptAppendMs;
}

/**
 * An append that was sent at `sentAtMs` was acknowledged now. A spell of slow ones is one outage, and one that was sent
 * before the connection dropped ends none.
 */
export function noteAppendAcked(guard: ExpiryGuard, sentAtMs: number, now: number, timing: GuardTiming): ExpiryGuard {
  if (sentAtMs <= guard.lostAtMs) return { ...guard, lastAckAtMs: now };
  const isSlow = !isPrompt(sentAtMs, now);
  const pauseMs = timing.renewIntervalMs + timing.requestTimeoutMs + 1_000;
  const pausedUntilMs = followsOutage(guard, sentAtMs, now) ? now + pauseMs : guard.pausedUntilMs;
  return { lastAckAtMs: now, isOutage: isSlow, lostAtMs: guard.lostAtMs, hadPause: isSlow, pausedUntilMs };
}

/** What the owner may do about terms that are overdue. */
export type ExpiryPermission =
  | { readonly kind: "allowed" }
  /** Send an empty append first, and ask again when it is acknowledged. */
  | { readonly kind: "probeFirst" }
  | { readonly kind: "paused"; readonly untilMs: number };

const allowed: ExpiryPermission = Object.freeze({ kind: "allowed" });
const probeFirst: ExpiryPermission = Object.freeze({ kind: "probeFirst" });

/** Whether holders have not had their time to renew since the last outage. */
export function owesPause({ hadPause, isOutage, pausedUntilMs }: ExpiryGuard, now: number): boolean {
  return now < pausedUntilMs || (isOutage && !hadPause);
}

/** Whether anyone may be expired now. */
export function mayExpire(guard: ExpiryGuard, now: number): ExpiryPermission {
  if (now < guard.pausedUntilMs) return { kind: "paused", untilMs: guard.pausedUntilMs };
  const isFresh = guard.lastAckAtMs !== undefined && now - guard.lastAckAtMs <= promptAppendMs;
  const awaitsAck = guard.isOutage && !guard.hadPause;
  return isFresh && !awaitsAck ? allowed : probeFirst;
}
