import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("parseDuration", () => {
  it.each([
    ["250ms", 250],
    ["10s", 10_000],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    ["1d2h3m4s5ms", 93_784_005],
    ["0", 0],
    ["0s", 0],
  ])("reads %s as %d ms", (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each(["", "10", "-5s", "5 s", "s", "10x", "1s1m", "1s1s", "1e3s", "∞", "9".repeat(40) + "d"])(
    "refuses %j and says what a duration looks like",
    (text) => {
      expect(() => parseDuration(text, "lease-duration")).toThrow(
        /lease-duration must be a duration such as 250ms, 10s, 1m30s or 1h/,
      );
    },
  );
});

describe("formatDuration", () => {
  it("is read back as the same number of milliseconds", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
      }),
    );
  });

  it.each([
    [0, "0s"],
    [1500, "1.5s"],
    [90_000, "1m30s"],
    [86_400_000, "1d"],
    [12, "12ms"],
  ])("writes %d ms as %s", (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text);
  });
});
