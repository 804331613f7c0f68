import { defaultTiming, leastLeaseDurationMs, type Timing, type TimingPolicy } from "@tenure/core";
import { type DurationInput, toMs } from "./duration-input.ts";

/** The durations of a term as its user gives them. What is not given follows from the lease duration. */
export interface TimingOptions {
  /** L: how long the store waits after the last renewal before another may lead. Default 15 s. */
  readonly leaseDuration?: DurationInput | undefined;
  /** H: how long this process may act after the send of its last proven renewal. Default 11 s for 15 s of L. */
  readonly usableTerm?: DurationInput | undefined;
  /** R: time between two renewals, and the unit of the pauses between failed attempts. Default 1 s for 15 s of L. */
  readonly renewInterval?: DurationInput | undefined;
  /** T: a renewal without an answer for this long has failed. Default 2 s for 15 s of L. */
  readonly requestTimeout?: DurationInput | undefined;
  /** How long before the deadline `term.signal` fires when renewals fail. Default 1 s for 15 s of L. */
  readonly drain?: DurationInput | undefined;
  /** How long the function may take to finish, while the term is still renewed, after it was asked to. Default 30 s. */
  readonly stopTimeout?: DurationInput | undefined;
  /** How long the lease stays free after an expiry; counts towards L in the first inequality. Default 0. */
  readonly lockDelay?: DurationInput | undefined;
}

/** The durations that a term lives by, in ms. */
export interface TermTiming extends Timing {
  readonly drainMs: number;
  readonly stopTimeoutMs: number;
  readonly lockDelayMs: number;
}

/** As long as the store goes on renewing a term that is asked to end, unless the lease says otherwise. */
const defaultStopTimeoutMs = 30_000;

/** No request of a long lease waits longer than this for its answer. */
const longestRequestTimeoutMs = 10_000;

/** No drain of a long lease is longer than this unless asked for. */
const longestDrainMs = 5_000;

/**
 * Every duration, with those that were not given derived from L. R is half of the protocol's default, which makes
 * room for a drain and still survives a failover of the store: H − drain ≥ F + R + T.
 */
export function fillTiming(options: TimingOptions, policy: TimingPolicy): TermTiming {
  const given = (name: keyof TimingOptions): number | undefined => {
    const input = options[name];
    return input === undefined ? undefined : toMs(input, name);
  };
  const leaseDurationMs = given("leaseDuration") ?? defaultTiming.leaseDurationMs;
  const lockDelayMs = given("lockDelay") ?? 0;
  const usableTermMs = given("usableTerm") ?? longestUsableTermMs(leaseDurationMs, lockDelayMs, policy);
  return {
    leaseDurationMs,
    usableTermMs,
    renewIntervalMs: given("renewInterval") ?? Math.floor(usableTermMs / 11),
    requestTimeoutMs: given("requestTimeout") ?? Math.min(Math.floor(usableTermMs / 5.5), longestRequestTimeoutMs),
    drainMs: given("drain") ?? Math.min(Math.floor(usableTermMs / 11), longestDrainMs),
    stopTimeoutMs: given("stopTimeout") ?? defaultStopTimeoutMs,
    lockDelayMs,
  };
}

/** The H of a lease duration: the protocol's share of it, or less where stopping takes a larger share. */
function longestUsableTermMs(leaseDurationMs: number, lockDelayMs: number, policy: TimingPolicy): number {
  const share = (leaseDurationMs * defaultTiming.usableTermMs) / defaultTiming.leaseDurationMs;
  // Inequality (1) solved for H: what is left of L after ρ on both sides and σ.
  const overheadMs = leastLeaseDurationMs(0, policy);
  const perMs = leastLeaseDurationMs(1, policy) - overheadMs;
  const usableTermMs = Math.floor(Math.min(share, (leaseDurationMs + lockDelayMs - overheadMs) / perMs));
  // Where the division came out whole, rounding may have gone a hair too far.
  const isTooLong = leastLeaseDurationMs(usableTermMs, policy) > leaseDurationMs + lockDelayMs;
  return Math.max(0, isTooLong ? usableTermMs - 1 : usableTermMs);
}
