import { Incarnation as IncarnationRecord } from "@tenure/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Incarnation } from "./incarnation.ts";
import { decodeIncarnation, encodeIncarnation } from "./incarnation-codec.ts";

const valid: Incarnation = {
  id: "4Nq7",
  createdAtMicros: 1_763_270_400_000_001n,
  partitions: 8,
  firstSequence: 1_763_270_400_000_001n,
  formatVersion: 1,
};

const record = (changes: Partial<IncarnationRecord>): Uint8Array =>
  IncarnationRecord.encode({ ...IncarnationRecord.decode(encodeIncarnation(valid)), ...changes }).finish();

describe("the incarnation record", () => {
  it("survives a round trip to the microsecond", () => {
    fc.assert(
      fc.property(
        fc.record({
          id: fc.string({ minLength: 1 }),
          createdAtMicros: fc.bigInt({ min: 0n, max: (1n << 53n) - 1n }),
          partitions: fc.integer({ min: 1, max: 256 }),
          firstSequence: fc.bigInt({ min: 1n, max: (1n << 53n) - 1n }),
          formatVersion: fc.constant(1),
          restoredFrom: fc.string({ minLength: 1 }),
          createdBy: fc.string({ minLength: 1 }),
        }),
        (incarnation) => {
          expect(decodeIncarnation(encodeIncarnation(incarnation))).toEqual({ kind: "present", incarnation });
        },
      ),
    );
  });

  it.each([
    ["no bytes at all", new Uint8Array(), "record-malformed"],
    ["bytes that are no message", Uint8Array.of(0xff, 0xff), "record-malformed"],
    ["no id", record({ id: "" }), "record-malformed"],
    ["no partitions", record({ partitions: 0 }), "record-malformed"],
    ["no first sequence", record({ firstSequence: 0n }), "record-malformed"],
    ["a first sequence that a number cannot hold", record({ firstSequence: 1n << 53n }), "record-malformed"],
    ["a time outside the calendar", record({ createdAt: { seconds: 1n << 60n, nanos: 0 } }), "record-malformed"],
    ["a later format", record({ formatVersion: 2 }), "format-unknown"],
    ["a later format that breaks today's rules", record({ formatVersion: 2, id: "" }), "format-unknown"],
  ])("is refused with %s", (_, bytes, kind) => {
    expect(decodeIncarnation(bytes).kind).toBe(kind);
  });
});
