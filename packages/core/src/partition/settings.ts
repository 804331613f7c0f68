import { defaultLimits, defaultRetention, type Limits, type Retention } from "../limits.ts";
import { defaultTiming, defaultTimingPolicy, type Timing, type TimingPolicy } from "../timing.ts";

/**
 * What a partition decides by. It is replicated, so that every replica drops the same history and outcomes whatever
 * its own configuration says; an owner whose configuration differs writes it in its first batch.
 */
export interface Settings {
  readonly limits: Limits;
  readonly retention: Retention;
  readonly policy: TimingPolicy;
  /** The timing of claimants that give none: R and T also bound a waiter's silence and the pause after an outage. */
  readonly timing: Timing;
  /** How long an elected candidate has to accept unless the coordinator says otherwise. */
  readonly acceptWindowMs: number;
}

/** The settings of a partition to which no owner has written others. */
export const defaultSettings: Settings = Object.freeze({
  limits: defaultLimits,
  retention: defaultRetention,
  policy: defaultTimingPolicy,
  timing: defaultTiming,
  acceptWindowMs: defaultTiming.requestTimeoutMs,
});

/** Whether two settings are the same in every number, so that an owner need not write its own again. */
export function sameSettings(left: Settings, right: Settings): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
