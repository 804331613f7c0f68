import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkTiming,
  defaultTiming,
  defaultTimingPolicy,
  describeTiming,
  leastLeaseDurationMs,
  testTimingPolicy,
} from "./timing.ts";

const broken = (more: object, lockDelayMs = 0, policy = defaultTimingPolicy) =>
  checkTiming({ ...defaultTiming, ...more }, lockDelayMs, policy).map(({ inequality }) => inequality);

describe("timing", () => {
  it("the defaults hold every inequality: 15 s against 14.5 s, and one failover of the store", () => {
    expect(checkTiming(defaultTiming, 0, defaultTimingPolicy)).toEqual([]);
    expect(leastLeaseDurationMs(11_000, defaultTimingPolicy)).toBeCloseTo(14_544.4, 1);
    expect(describeTiming(defaultTiming)).toBe("L 15s, H 11s, R 2s, T 2s");
  });

  it.each([
    ["(1) L too short for H", { leaseDurationMs: 14_544 }, 0, [1]],
    ["(1) just long enough", { leaseDurationMs: 14_545 }, 0, []],
    ["(1) with the lock delay", { leaseDurationMs: 12_545 }, 2_000, []],
    ["(2) fewer than two tries", { renewIntervalMs: 3_750 }, 0, [2, 4]],
    ["(2) exactly at the bound is refused", { usableTermMs: 6_800 }, 0, [2, 3, 4]],
    ["(3) T above H / 4", { requestTimeoutMs: 2_751, usableTermMs: 11_000 }, 0, [3, 4]],
    ["(4) only warns", { usableTermMs: 10_999 }, 0, [4]],
    [
      "(0) L below the minimum",
      { leaseDurationMs: 4_999, usableTermMs: 2_400, renewIntervalMs: 500, requestTimeoutMs: 500 },
      0,
      [0, 4],
    ],
    ["(0) L above the maximum", { leaseDurationMs: 300_001 }, 0, [0]],
    ["(0) a duration of 0", { renewIntervalMs: 0 }, 0, [0]],
    ["(0) a negative duration", { usableTermMs: -1 }, 0, [0]],
    ["(0) a negative lock delay", {}, -1, [0]],
    ["(0) not a number", { requestTimeoutMs: Number.NaN }, 0, [0]],
  ])("%s", (_, more, lockDelayMs, expected) => {
    expect(broken(more, lockDelayMs)).toEqual(expected);
  });

  it("(5) a watchdog that looks too rarely is refused", () => {
    expect(broken({}, 0, { ...defaultTimingPolicy, watchdogStepMs: 251 })).toEqual([5]);
  });

  it("says the numbers, and refuses all but (4)", () => {
    const [first] = checkTiming({ ...defaultTiming, leaseDurationMs: 14_000 }, 0, defaultTimingPolicy);
    expect(first?.message).toBe(
      "L 14s + lock delay 0s must be at least (1 + 0.1) x (H 11s / (1 - 0.1) + 1s) = 14.545s",
    );
    expect(first?.isRefused).toBe(true);
    const [warning] = checkTiming({ ...defaultTiming, usableTermMs: 10_000 }, 0, defaultTimingPolicy);
    expect(warning).toEqual({
      inequality: 4,
      isRefused: false,
      message: "a failover of the store may cost the term: H 10s is below F 7s + R 2s + T 2s = 11s",
      fields: { usable_term: 10_000, renew_interval: 2_000, request_timeout: 2_000 },
    });
  });

  it.each([
    [{ leaseDurationMs: 14_000 }, 0, ["lease_duration", "lock_delay", "usable_term"]],
    [{ requestTimeoutMs: 2_751, leaseDurationMs: 60_000 }, 0, ["request_timeout", "usable_term"]],
    [{ leaseDurationMs: 300_001 }, 0, ["lease_duration"]],
    [{ renewIntervalMs: 0, usableTermMs: -1 }, 0, ["usable_term", "renew_interval"]],
    [{}, -1, ["lock_delay"]],
  ])("names the fields of %o with lock delay %d", (more, lockDelayMs, fields) => {
    const [first] = checkTiming({ ...defaultTiming, ...more }, lockDelayMs, defaultTimingPolicy);
    expect(Object.keys(first?.fields ?? {})).toEqual(fields);
  });

  it("the test policy allows leases of 1 s", () => {
    const timing = { leaseDurationMs: 1_000, usableTermMs: 700, renewIntervalMs: 150, requestTimeoutMs: 150 };
    expect(checkTiming(timing, 0, testTimingPolicy)).toEqual([]);
  });

  it("what is accepted keeps a slow holder's last effect before a fast judge's expiry", () => {
    const durations = fc.record({
      leaseDurationMs: fc.integer({ min: 5_000, max: 300_000 }),
      usableTermMs: fc.integer({ min: 1, max: 300_000 }),
      renewIntervalMs: fc.integer({ min: 1, max: 60_000 }),
      requestTimeoutMs: fc.integer({ min: 1, max: 60_000 }),
    });
    fc.assert(
      fc.property(durations, fc.integer({ min: 0, max: 60_000 }), (timing, lockDelayMs) => {
        fc.pre(checkTiming(timing, lockDelayMs, defaultTimingPolicy).every(({ isRefused }) => !isRefused));
        const lastEffectMs = timing.usableTermMs / 0.9 + 1_000;
        const earliestGrantMs = (timing.leaseDurationMs + lockDelayMs) / 1.1;
        expect(earliestGrantMs).toBeGreaterThanOrEqual(lastEffectMs - 1e-6);
      }),
    );
  });
});
