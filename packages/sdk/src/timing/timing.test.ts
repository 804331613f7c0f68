import { checkTiming, defaultTimingPolicy, testTimingPolicy } from "@tenure/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveTiming } from "./check-timing.ts";
import { describeTiming } from "./describe-timing.ts";
import { toMs } from "./duration-input.ts";

describe("durations", () => {
  it.each([
    [250, 250],
    ["250ms", 250],
    ["10s", 10_000],
    ["1m30s", 90_000],
    [0, 0],
  ])("%s is %i ms", (input, expected) => expect(toMs(input, "wait")).toBe(expected));

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "10", "-1s", "", "0.5ms"])(
    "%s is refused, never rounded",
    (input) => {
      expect(() => toMs(input, "wait")).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    },
  );
});

describe("the timing of a term", () => {
  it("is 15 s, 11 s, 1 s and 2 s unless said, with a second of drain", () => {
    expect(resolveTiming({})).toEqual({
      leaseDurationMs: 15_000,
      usableTermMs: 11_000,
      renewIntervalMs: 1_000,
      requestTimeoutMs: 2_000,
      drainMs: 1_000,
      stopTimeoutMs: 30_000,
      lockDelayMs: 0,
    });
  });

  it("follows from the lease duration alone, and is what the store accepts", () => {
    fc.assert(
      fc.property(fc.integer({ min: 5_000, max: 300_000 }), (leaseDuration) => {
        const timing = resolveTiming({ leaseDuration });
        const refused = checkTiming(timing, 0, defaultTimingPolicy).filter(({ isRefused }) => isRefused);
        expect(refused).toEqual([]);
        expect(timing.leaseDurationMs).toBe(leaseDuration);
      }),
    );
  });

  it("is found also where the numbers come out even", () => {
    for (let leaseDuration = 5_000; leaseDuration < 16_000; leaseDuration += 1) {
      expect(resolveTiming({ leaseDuration }).usableTermMs).toBeGreaterThan(0.6 * leaseDuration);
    }
  });

  it("never passes what the store would refuse", () => {
    const duration = fc.integer({ min: 0, max: 20_000 });
    const options = fc.record(
      {
        leaseDuration: duration,
        usableTerm: duration,
        renewInterval: duration,
        requestTimeout: duration,
        drain: duration,
        lockDelay: duration,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(options, fc.constantFrom(defaultTimingPolicy, testTimingPolicy), (given, policy) => {
        let timing: ReturnType<typeof resolveTiming>;
        try {
          timing = resolveTiming(given, policy);
        } catch (error) {
          expect(error).toMatchObject({ code: "INVALID_ARGUMENT", reason: "TIMING_UNSAFE" });
          return;
        }
        expect(checkTiming(timing, timing.lockDelayMs, policy).filter(({ isRefused }) => isRefused)).toEqual([]);
        expect(timing.usableTermMs - timing.drainMs).toBeGreaterThan(
          2.4 * timing.renewIntervalMs + timing.requestTimeoutMs,
        );
      }),
    );
  });

  it.each([
    [
      { leaseDuration: "10s", usableTerm: "10s" },
      /leaseDuration 10s must be longer than usableTerm 10s.*at least 13\.323s/,
    ],
    [
      { leaseDuration: "13s", usableTerm: "11s" },
      /leaseDuration 13s is too short for usableTerm 11s.*at least 14\.545s/,
    ],
    [{ usableTerm: "1s", renewInterval: "1s" }, /usableTerm 1s.*more than 1\.2 times renewInterval 1s/],
    [{ renewInterval: "5s" }, /usableTerm 11s must be at least 15\.001s .*one lost renewal/],
    [{ requestTimeout: "3s" }, /requestTimeout 3s must be at most a quarter of usableTerm 11s, 2\.75s/],
    [{ drain: "8s" }, /usableTerm 11s must be at least 12\.401s .*drain 8s/],
    [{ drain: 0 }, /drain must be above 0/],
    [{ leaseDuration: "1s" }, /usableTerm must be above 0/],
    [{ leaseDuration: "4s" }, /L 4s must be between 5s and 5m/],
  ])("%j is refused in plain words", (options, message) => expect(() => resolveTiming(options)).toThrow(message));
});

describe("describeTiming", () => {
  it("says what the defaults tolerate: a failover of the store, and more clock error than assumed", () => {
    const report = describeTiming();
    expect(report).toMatchObject({ toleratedOutageMs: 7_000, toleratedPauseMs: 7_000, vacantAfterCrashMs: 15_000 });
    expect(report.toleratedClockError).toBeGreaterThanOrEqual(0.1);
    expect(report.warnings).toEqual([]);
    expect(report.text.split("\n")).toHaveLength(7);
    expect(report.text).toContain("the store or the network may be away for 7s without ending the term");
  });

  it("warns when a failover of the store would end the term", () => {
    const { warnings, toleratedOutageMs } = describeTiming({ leaseDuration: "6s" });
    expect(toleratedOutageMs).toBeLessThan(7_000);
    expect(warnings).toEqual([expect.stringContaining("a failover of the store may take 7s and would end the term")]);
  });

  it("throws for what is unsafe", () => {
    expect(() => describeTiming({ leaseDuration: "5s", usableTerm: "5s" })).toThrow("must be longer");
  });
});
