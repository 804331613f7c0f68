import { formatDuration } from "@tenure/kernel";

/** The durations that a holder lives by, in ms. */
export interface Timing {
  /** L: how long the store waits after the last renewal before it expires the term. */
  readonly leaseDurationMs: number;
  /** H: how long the holder may act, from just before it sent its last proven attempt. */
  readonly usableTermMs: number;
  /** R: time between two renewals. */
  readonly renewIntervalMs: number;
  /** T: time after which a request without an answer has failed. */
  readonly requestTimeoutMs: number;
}

/** What the deployment assumes of its clocks, processes and store. */
export interface TimingPolicy {
  /** ρ: bound of a clock's rate error, as a fraction. Time daemons may slew by several percent. */
  readonly rateError: number;
  /** σ: bound of the time from a holder's local deadline to its last unfenced effect. */
  readonly stopBoundMs: number;
  /** F: how long the store may be away during a failover. */
  readonly storeOutageMs: number;
  /** How often the SDK's watchdog looks at the clock. */
  readonly watchdogStepMs: number;
  /** No L below this is accepted. */
  readonly minimumLeaseDurationMs: number;
  /** No L above this is accepted; it is also how long a restored partition grants nothing. */
  readonly maximumLeaseDurationMs: number;
  /**
   * The longest L of an identity's lease. Nobody acts by the strength of such a term alone, so it may be longer than
   * that of others without a restored partition having to wait for it.
   */
  readonly maximumIdentityValidityMs: number;
}

/** The timing of `safety.md` section 2: 15 s ≥ 14.5 s, and 11 s covers one store failover of 7 s. */
export const defaultTiming: Timing = Object.freeze({
  leaseDurationMs: 15_000,
  usableTermMs: 11_000,
  renewIntervalMs: 2_000,
  requestTimeoutMs: 2_000,
});

/** ρ 0.1 and σ 1 s are the protocol's; F is the 7 s measured on three servers; the watchdog looks four times per σ. */
export const defaultTimingPolicy: TimingPolicy = Object.freeze({
  rateError: 0.1,
  stopBoundMs: 1_000,
  storeOutageMs: 7_000,
  watchdogStepMs: 250,
  minimumLeaseDurationMs: 5_000,
  maximumLeaseDurationMs: 300_000,
  maximumIdentityValidityMs: 86_400_000,
});

/** Allows leases of 1 s, by a σ that only holds on a machine that is not overloaded. For tests. */
export const testTimingPolicy: TimingPolicy = Object.freeze({
  rateError: 0.1,
  stopBoundMs: 100,
  storeOutageMs: 0,
  watchdogStepMs: 25,
  minimumLeaseDurationMs: 100,
  maximumLeaseDurationMs: 60_000,
  maximumIdentityValidityMs: 86_400_000,
});

/** One broken inequality. */
export interface TimingViolation {
  /** The inequality's number in section 2 of the safety protocol; 0 for the bounds of L. */
  readonly inequality: 0 | 1 | 2 | 3 | 4 | 5;
  /** Whether the configuration must be refused; otherwise its user is told what it gives up. */
  readonly isRefused: boolean;
  /** The inequality with its numbers. */
  readonly message: string;
  /** The durations that it compares, in ms, by the names of their fields in the API. */
  readonly fields: Readonly<Record<string, number>>;
}

/** The least L + lock delay that keeps two holders apart for a usable term of H: (1 + ρ) · (H / (1 − ρ) + σ). */
export function leastLeaseDurationMs(usableTermMs: number, policy: TimingPolicy): number {
  return (1 + policy.rateError) * (usableTermMs / (1 - policy.rateError) + policy.stopBoundMs);
}

/** Every inequality of section 2 that the durations break, with the numbers; empty when they are sound. */
export function checkTiming(timing: Timing, lockDelayMs: number, policy: TimingPolicy): readonly TimingViolation[] {
  const { leaseDurationMs: l, usableTermMs: h, renewIntervalMs: r, requestTimeoutMs: t } = timing;
  const given = { lease_duration: l, usable_term: h, renew_interval: r, request_timeout: t };
  if (!(l > 0 && h > 0 && r > 0 && t > 0 && lockDelayMs >= 0)) {
    const message = `every duration must be above 0: ${describeTiming(timing)}, lock delay ${show(lockDelayMs)}`;
    const wrong = Object.entries(given).filter(([, durationMs]) => !(durationMs > 0));
    const fields = wrong.length > 0 ? Object.fromEntries(wrong) : { lock_delay: lockDelayMs };
    return [{ inequality: 0, isRefused: true, message, fields }];
  }
  const violations: TimingViolation[] = [...checkLeaseDuration(l, policy)];
  const { lease_duration, renew_interval, request_timeout, usable_term } = given;
  const add = (inequality: 1 | 2 | 3 | 4 | 5, message: string, fields: TimingViolation["fields"]) =>
    violations.push({ inequality, isRefused: inequality !== 4, message, fields });
  const least = leastLeaseDurationMs(h, policy);
  if (l + lockDelayMs < least) {
    const rule = `(1 + ${policy.rateError}) x (H ${show(h)} / (1 - ${policy.rateError}) + ${show(policy.stopBoundMs)})`;
    const message = `L ${show(l)} + lock delay ${show(lockDelayMs)} must be at least ${rule} = ${show(Math.ceil(least))}`;
    add(1, message, { lease_duration, lock_delay: lockDelayMs, usable_term });
  }
  if (h <= 2.4 * r + t) {
    const message = `H ${show(h)} must be more than 2.4 x R ${show(r)} + T ${show(t)} = ${show(2.4 * r + t)}`;
    add(2, message, { usable_term, renew_interval, request_timeout });
  }
  if (t > h / 4) {
    add(3, `T ${show(t)} must be at most H ${show(h)} / 4 = ${show(h / 4)}`, { request_timeout, usable_term });
  }
  if (h < policy.storeOutageMs + r + t) {
    const sum = `${show(policy.storeOutageMs)} + R ${show(r)} + T ${show(t)} = ${show(policy.storeOutageMs + r + t)}`;
    const message = `a failover of the store may cost the term: H ${show(h)} is below F ${sum}`;
    add(4, message, { usable_term, renew_interval, request_timeout });
  }
  if (policy.watchdogStepMs > policy.stopBoundMs / 4) {
    add(5, `watchdog step ${show(policy.watchdogStepMs)} must be at most ${show(policy.stopBoundMs)} / 4`, {});
  }
  return violations;
}

/** Whether L alone is within the deployment's bounds; all that is known of clients that give no other duration. */
export function checkLeaseDuration(leaseDurationMs: number, policy: TimingPolicy): readonly TimingViolation[] {
  const { minimumLeaseDurationMs: least, maximumLeaseDurationMs: most } = policy;
  if (leaseDurationMs >= least && leaseDurationMs <= most) return [];
  const message = `L ${show(leaseDurationMs)} must be between ${show(least)} and ${show(most)}`;
  return [{ inequality: 0, isRefused: true, message, fields: { lease_duration: leaseDurationMs } }];
}

/** Whether a new L is at least that of the term that runs. */
export function checkLonger(leaseDurationMs: number, presentMs: number): readonly TimingViolation[] {
  if (leaseDurationMs >= presentMs) return [];
  const message = `L ${show(leaseDurationMs)} must be at least the ${show(presentMs)} of the running term; a shorter one comes with the next term`;
  return [{ inequality: 0, isRefused: true, message, fields: { lease_duration: leaseDurationMs } }];
}

/** The durations in one line, for logs and messages. */
export function describeTiming({ leaseDurationMs, usableTermMs, renewIntervalMs, requestTimeoutMs }: Timing): string {
  return `L ${show(leaseDurationMs)}, H ${show(usableTermMs)}, R ${show(renewIntervalMs)}, T ${show(requestTimeoutMs)}`;
}

function show(durationMs: number): string {
  return durationMs >= 0 ? formatDuration(durationMs) : `${durationMs}ms`;
}
