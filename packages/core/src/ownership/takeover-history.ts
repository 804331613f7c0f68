import type { OwnershipTiming } from "./timing.ts";

/** What a replica remembers of its own takeovers of one partition. */
export interface TakeoverHistory {
  /** Takeovers in a row without a calm spell between them. */
  readonly takeovers: number;
  /** When the last was tried. */
  readonly lastAtMs: number;
}

/** The history of a replica that has taken nothing over. */
export const noTakeovers: TakeoverHistory = Object.freeze({ takeovers: 0, lastAtMs: Number.NEGATIVE_INFINITY });

/** A takeover was tried now, with or without success. */
export function noteTakeover(history: TakeoverHistory, now: number, { calmMs }: OwnershipTiming): TakeoverHistory {
  const isCalm = now - history.lastAtMs > calmMs;
  return { takeovers: isCalm ? 1 : history.takeovers + 1, lastAtMs: now };
}

/** The earliest instant of the next takeover: each one in a row doubles the wait. */
export function nextTakeoverMs(history: TakeoverHistory, timing: OwnershipTiming): number {
  const { backoffFirstMs, backoffLimitMs } = timing;
  if (history.takeovers === 0) return Number.NEGATIVE_INFINITY;
  const doublings = Math.min(history.takeovers - 1, 30);
  return history.lastAtMs + Math.min(backoffFirstMs * 2 ** doublings, backoffLimitMs);
}
