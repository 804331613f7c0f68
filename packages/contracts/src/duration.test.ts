import { Fault } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { durationFromMs, durationToMs } from "./duration.ts";
import { Duration } from "./gen/google/protobuf/duration.ts";

const maxMs = 315_576_000_000_000;

describe("durations on the wire", () => {
  it.each([
    [0, 0n, 0],
    [1, 0n, 1_000_000],
    [15_000, 15n, 0],
    [1500, 1n, 500_000_000],
    [-1500, -1n, -500_000_000],
    [0.25, 0n, 250_000],
    [999.9999999, 1n, 0],
    [-0.0000001, 0n, 0],
    [maxMs, 315_576_000_000n, 0],
  ])("write %d ms as %d s and %d ns", (durationMs, seconds, nanos) => {
    expect(durationFromMs(durationMs)).toEqual({ seconds, nanos });
  });

  it("keep every whole millisecond through the wire", () => {
    fc.assert(
      fc.property(fc.integer({ min: -maxMs, max: maxMs }), (durationMs) => {
        const bytes = Duration.encode(durationFromMs(durationMs)).finish();
        expect(durationToMs(Duration.decode(bytes))).toBe(durationMs);
      }),
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, maxMs + 1, -maxMs - 1])("refuse %d ms", (durationMs) => {
    expect(() => durationFromMs(durationMs)).toThrow(Fault);
  });

  it.each([
    { seconds: 315_576_000_001n, nanos: 0 },
    { seconds: -315_576_000_001n, nanos: 0 },
    { seconds: 0n, nanos: 1_000_000_000 },
    { seconds: 1n, nanos: -1 },
    { seconds: -1n, nanos: 1 },
  ])("refuse $seconds s with $nanos ns", (duration) => {
    expect(() => durationToMs(duration)).toThrow(/of one sign/);
  });
});
