import { Fault } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Timestamp } from "./gen/google/protobuf/timestamp.ts";
import {
  formatTimestamp,
  parseTimestamp,
  timestampFromMicros,
  timestampFromMs,
  timestampToMicros,
} from "./timestamp.ts";

const anyMicros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n });

describe("timestamps on the wire", () => {
  it("keep every microsecond of the years 1 to 9999", () => {
    fc.assert(
      fc.property(anyMicros, (micros) => {
        const bytes = Timestamp.encode(timestampFromMicros(micros)).finish();
        expect(timestampToMicros(Timestamp.decode(bytes))).toBe(micros);
      }),
    );
  });

  it("keep every microsecond through their text", () => {
    fc.assert(
      fc.property(anyMicros, (micros) => {
        const text = formatTimestamp(timestampFromMicros(micros));
        expect(text).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/);
        expect(timestampToMicros(parseTimestamp(text))).toBe(micros);
      }),
    );
  });

  it("take milliseconds as a wall clock gives them", () => {
    expect(timestampFromMs(1_700_000_000_123.5)).toEqual({ seconds: 1_700_000_000n, nanos: 123_500_000 });
    expect(timestampFromMs(-1)).toEqual({ seconds: -1n, nanos: 999_000_000 });
    expect(() => timestampFromMs(Number.NaN)).toThrow(/finite number of milliseconds/);
  });

  it.each([-62_135_596_800_000_001n, 253_402_300_800_000_000n])("refuse %d microseconds", (micros) => {
    expect(() => timestampFromMicros(micros)).toThrow(/years 1 to 9999/);
  });

  it.each([-1, 1_000_000_000])("refuse %d nanoseconds", (nanos) => {
    expect(() => timestampToMicros({ seconds: 0n, nanos })).toThrow(/timestamp.nanos must be 0 to 999999999/);
  });
});

describe("statement 21: times are written as UTC with exactly six fractional digits", () => {
  it.each([
    [0n, "1970-01-01T00:00:00.000000Z"],
    [1n, "1970-01-01T00:00:00.000001Z"],
    [-1n, "1969-12-31T23:59:59.999999Z"],
    [-62_135_596_800_000_000n, "0001-01-01T00:00:00.000000Z"],
    [1_772_366_400_000_000n, "2026-03-01T12:00:00.000000Z"],
  ])("%d microseconds are %s", (micros, text) => {
    expect(formatTimestamp(timestampFromMicros(micros))).toBe(text);
  });
});

describe("statement 22: incoming times with 0, 3, 6 or 9 digits and any offset are normalised to six", () => {
  it.each([
    ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000000Z"],
    ["2026-03-01T12:00:00.123Z", "2026-03-01T12:00:00.123000Z"],
    ["2026-03-01T12:00:00.123456Z", "2026-03-01T12:00:00.123456Z"],
    ["2026-03-01T12:00:00.123456789Z", "2026-03-01T12:00:00.123456Z"],
    ["2026-03-01T12:00:00.5+05:30", undefined],
    ["2026-03-01T12:00:00+05:30", "2026-03-01T06:30:00.000000Z"],
    ["2026-03-01T00:30:00.000-01:45", "2026-03-01T02:15:00.000000Z"],
    ["2026-12-31T23:59:59-23:59", "2027-01-01T23:58:59.000000Z"],
    ["2024-02-29t00:00:00z", "2024-02-29T00:00:00.000000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"],
    ["0001-01-01T00:00:00+00:01", undefined],
    ["2023-02-29T00:00:00Z", undefined],
    ["2026-13-01T00:00:00Z", undefined],
    ["2026-00-01T00:00:00Z", undefined],
    ["2026-01-00T00:00:00Z", undefined],
    ["2026-01-01T24:00:00Z", undefined],
    ["2026-01-01T23:60:00Z", undefined],
    ["2026-01-01T23:59:60Z", undefined],
    ["2026-01-01T00:00:00+24:00", undefined],
    ["2026-01-01T00:00:00+00:60", undefined],
    ["2026-01-01T00:00:00", undefined],
    ["2026-01-01 00:00:00Z", undefined],
    ["2026-01-01T00:00:00Z ", undefined],
    ["", undefined],
  ])("%j becomes %s", (text, normalised) => {
    if (normalised === undefined) expect(() => parseTimestamp(text, "renew_time")).toThrow(/^renew_time must/);
    else expect(formatTimestamp(parseTimestamp(text))).toBe(normalised);
  });

  it("refuses any other text with a fault, never with a crash", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => parseTimestamp(text)).toThrow(Fault);
      }),
    );
  });
});
