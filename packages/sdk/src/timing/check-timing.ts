import { checkTiming, defaultTimingPolicy, leastLeaseDurationMs, type TimingPolicy } from "@tenure/core";
import { formatDuration } from "@tenure/kernel";
import { TenureError } from "../errors.ts";
import { fillTiming, type TermTiming, type TimingOptions } from "./term-timing.ts";

/**
 * The timing of a term. Throws INVALID_ARGUMENT with TIMING_UNSAFE when two processes could act at once, or when one
 * lost answer would cost the term; the message says which setting, which rule and what would do.
 */
export function resolveTiming(options: TimingOptions, policy: TimingPolicy = defaultTimingPolicy): TermTiming {
  const timing = fillTiming(options, policy);
  const [first, ...others] = brokenRules(timing, policy);
  if (first === undefined) return timing;
  const violations = [first, ...others];
  throw new TenureError({
    code: "INVALID_ARGUMENT",
    reason: "TIMING_UNSAFE",
    message: violations.map(({ rule }) => rule).join("; "),
    details: { violations },
  });
}

interface BrokenRule {
  readonly field: keyof TimingOptions;
  readonly rule: string;
  readonly value: string;
}

/** The rules in the words of the options; {@link checkTiming} has the last word on what they leave out. */
function brokenRules(timing: TermTiming, policy: TimingPolicy): readonly BrokenRule[] {
  const broken = [...notPositive(timing)];
  if (broken.length > 0) return broken;
  broken.push(...tooShort(timing, policy), ...tooFewTries(timing));
  if (broken.length > 0) return broken;
  return checkTiming(timing, timing.lockDelayMs, policy)
    .filter(({ isRefused }) => isRefused)
    .map(({ message }) => ({ field: "leaseDuration", rule: message, value: show(timing.leaseDurationMs) }));
}

function* notPositive(timing: TermTiming): Iterable<BrokenRule> {
  const durations = {
    leaseDuration: timing.leaseDurationMs,
    usableTerm: timing.usableTermMs,
    renewInterval: timing.renewIntervalMs,
    requestTimeout: timing.requestTimeoutMs,
    drain: timing.drainMs,
    stopTimeout: timing.stopTimeoutMs,
  };
  for (const [field, durationMs] of Object.entries(durations)) {
    if (durationMs > 0) continue;
    const why =
      field === "leaseDuration" ? "" : `, for which leaseDuration ${show(timing.leaseDurationMs)} may be too short`;
    const rule = `${field} must be above 0${why}`;
    yield { field: field as keyof TimingOptions, rule, value: show(durationMs) };
  }
}

function* tooShort(timing: TermTiming, policy: TimingPolicy): Iterable<BrokenRule> {
  const { leaseDurationMs, usableTermMs, lockDelayMs } = timing;
  const leastMs = leastLeaseDurationMs(usableTermMs, policy) - lockDelayMs;
  if (leaseDurationMs >= leastMs) return;
  const reserve = `clocks that are wrong by ${policy.rateError * 100} % and ${show(policy.stopBoundMs)} to stop`;
  const rule =
    leaseDurationMs <= usableTermMs
      ? `leaseDuration ${show(leaseDurationMs)} must be longer than usableTerm ${show(usableTermMs)}, the renew deadline: `
      : `leaseDuration ${show(leaseDurationMs)} is too short for usableTerm ${show(usableTermMs)}: `;
  const remedy = `with ${reserve} it must be at least ${show(Math.ceil(leastMs))}, or two processes could act at once`;
  yield { field: "leaseDuration", rule: rule + remedy, value: show(leaseDurationMs) };
}

function* tooFewTries(timing: TermTiming): Iterable<BrokenRule> {
  const { usableTermMs, renewIntervalMs, requestTimeoutMs, drainMs } = timing;
  if (usableTermMs <= 1.2 * renewIntervalMs) {
    const rule = `usableTerm ${show(usableTermMs)}, the renew deadline, must be more than 1.2 times renewInterval ${show(renewIntervalMs)}, the retry period`;
    yield { field: "usableTerm", rule, value: show(usableTermMs) };
    return;
  }
  const leastMs = Math.floor(2.4 * renewIntervalMs + requestTimeoutMs + drainMs) + 1;
  if (usableTermMs < leastMs) {
    const sum = `2.4 times renewInterval ${show(renewIntervalMs)}, requestTimeout ${show(requestTimeoutMs)} and drain ${show(drainMs)}`;
    const rule = `usableTerm ${show(usableTermMs)} must be at least ${show(leastMs)} (${sum}), so that one lost renewal does not end the term`;
    yield { field: "usableTerm", rule, value: show(usableTermMs) };
  }
  if (requestTimeoutMs > usableTermMs / 4) {
    const rule = `requestTimeout ${show(requestTimeoutMs)} must be at most a quarter of usableTerm ${show(usableTermMs)}, ${show(Math.floor(usableTermMs / 4))}`;
    yield { field: "requestTimeout", rule, value: show(requestTimeoutMs) };
  }
}

function show(durationMs: number): string {
  return formatDuration(durationMs);
}
