import { defaultTimingPolicy, type TimingPolicy } from "@tenure/core";
import { formatDuration } from "@tenure/kernel";
import { resolveTiming } from "./check-timing.ts";
import type { TermTiming, TimingOptions } from "./term-timing.ts";

/** What a timing tolerates and what it costs, all in ms. */
export interface TimingReport {
  readonly timing: TermTiming;
  /** An outage of the store or the network that every term survives, whenever it begins. */
  readonly toleratedOutageMs: number;
  /** A pause of the process that every term survives, whenever it begins. */
  readonly toleratedPauseMs: number;
  /** A longer pause that is not noticed at once still lets nobody act twice, if it ends this long after the deadline. */
  readonly toleratedOverrunMs: number;
  /** How wrong, as a fraction, the rates of two clocks may be without two processes acting at once. */
  readonly toleratedClockError: number;
  /** How long nobody leads after a leader's process was killed, at the most. */
  readonly vacantAfterCrashMs: number;
  /** What the timing gives up, in plain words; empty when nothing. */
  readonly warnings: readonly string[];
  /** All of it in plain words, one line each. */
  readonly text: string;
}

/** Says what outage, pause and clock error the settings tolerate. Throws as {@link resolveTiming} when they are unsafe. */
export function describeTiming(options: TimingOptions = {}, policy: TimingPolicy = defaultTimingPolicy): TimingReport {
  const timing = resolveTiming(options, policy);
  const { leaseDurationMs, usableTermMs, renewIntervalMs, requestTimeoutMs, drainMs, lockDelayMs } = timing;
  // The worst case begins just after a renewal was sent and ends with one that is sent R and answered T later.
  const toleratedOutageMs = Math.max(0, usableTermMs - drainMs - renewIntervalMs - requestTimeoutMs);
  const toleratedClockError = clockErrorOf(timing, policy);
  const vacantAfterCrashMs = leaseDurationMs + lockDelayMs;
  const warnings =
    toleratedOutageMs < policy.storeOutageMs
      ? [
          `a failover of the store may take ${show(policy.storeOutageMs)} and would end the term: lengthen leaseDuration, or shorten renewInterval, requestTimeout or drain`,
        ]
      : [];
  const report = {
    timing,
    toleratedOutageMs,
    toleratedPauseMs: toleratedOutageMs,
    toleratedOverrunMs: policy.stopBoundMs,
    toleratedClockError,
    vacantAfterCrashMs,
    warnings,
  };
  return { ...report, text: describe(report) };
}

/** The ρ at which inequality (1) becomes an equation, by bisection: (1 + ρ) · (H / (1 − ρ) + σ) = L + lock delay. */
function clockErrorOf(
  { leaseDurationMs, lockDelayMs, usableTermMs }: TermTiming,
  { stopBoundMs }: TimingPolicy,
): number {
  let low = 0;
  let high = 0.999;
  for (let round = 0; round < 40; round += 1) {
    const middle = (low + high) / 2;
    const least = (1 + middle) * (usableTermMs / (1 - middle) + stopBoundMs);
    if (least <= leaseDurationMs + lockDelayMs) low = middle;
    else high = middle;
  }
  return Math.floor(low * 1000) / 1000;
}

function describe(report: Omit<TimingReport, "text">): string {
  const { timing, warnings } = report;
  return [
    `renews every ${show(timing.renewIntervalMs)} and may act for ${show(timing.usableTermMs)} after its last proven renewal was sent`,
    `the store or the network may be away for ${show(report.toleratedOutageMs)} without ending the term`,
    `the process may be paused for ${show(report.toleratedPauseMs)} without ending the term`,
    `when renewals fail, the signal fires ${show(timing.drainMs)} before the deadline`,
    `asked to finish, the function may take ${show(timing.stopTimeoutMs)} while the term is still renewed`,
    `no two processes act at once while clocks run within ${Number((report.toleratedClockError * 100).toFixed(1))} % of true time and stopping takes at most ${show(report.toleratedOverrunMs)}`,
    `after a crash of the leader another leads within ${show(report.vacantAfterCrashMs)}; after a clean stop at once`,
    ...warnings.map((warning) => `warning: ${warning}`),
  ].join("\n");
}

function show(durationMs: number): string {
  return formatDuration(durationMs);
}
