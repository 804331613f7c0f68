import { Fault } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeRenewals, encodeRenewals, type RenewalGroup } from "./renewal-pack.ts";

const max = Number.MAX_SAFE_INTEGER;
const anyNumber = fc.oneof(fc.maxSafeNat(), fc.nat(300), fc.integer({ min: max - 300, max }));
const anyGroup: fc.Arbitrary<RenewalGroup> = fc.record({
  partition: fc.nat(0xffff),
  sendNumber: anyNumber,
  holdIds: fc
    .uniqueArray(anyNumber, { minLength: 1, maxLength: 60 })
    .map((ids) => ids.toSorted((left, right) => left - right)),
});

/** Bytes that look like the layout, so that the fuzz gets past its first byte. */
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Uint8Array.of(1, ...bytes)),
  fc.tuple(fc.array(anyGroup, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(255)).map(([groups, at, value]) => {
    const bytes = encodeRenewals(groups);
    bytes[at % bytes.length] = value;
    return bytes;
  }),
);

describe("packed renewals", () => {
  it("have the documented layout", () => {
    const bytes = encodeRenewals([
      { partition: 3, sendNumber: 300, holdIds: [1000, 1001, 1200] },
      { partition: 0, sendNumber: 1, holdIds: [0] },
    ]);
    expect([...bytes]).toEqual([0x01, 3, 0xac, 0x02, 3, 0xe8, 0x07, 1, 0xc7, 0x01, 0, 1, 1, 0]);
  });

  it("come back as they were", () => {
    fc.assert(
      fc.property(fc.array(anyGroup, { maxLength: 8 }), (groups) => {
        expect(decodeRenewals(encodeRenewals(groups))).toEqual(groups);
      }),
      { numRuns: 500 },
    );
  });

  it("are concatenated by joining their groups", () => {
    fc.assert(
      fc.property(fc.array(anyGroup, { minLength: 1 }), fc.array(anyGroup, { minLength: 1 }), (first, second) => {
        const joined = Uint8Array.of(...encodeRenewals(first), ...encodeRenewals(second).subarray(1));
        expect(decodeRenewals(joined)).toEqual([...first, ...second]);
      }),
    );
  });

  it("of any bytes are either refused or the only encoding of what they say", () => {
    let accepted = 0;
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        let groups: RenewalGroup[];
        try {
          groups = decodeRenewals(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect((error as Fault).reason).toBe("MALFORMED_MESSAGE");
          return;
        }
        accepted += 1;
        expect([...encodeRenewals(groups)]).toEqual([...bytes]);
      }),
      { numRuns: 20_000 },
    );
    expect(accepted).toBeGreaterThan(1000);
  });

  it("cut off anywhere inside a group are refused", () => {
    fc.assert(
      fc.property(anyGroup, fc.nat(), (group, at) => {
        const bytes = encodeRenewals([group]);
        const length = 1 + (at % (bytes.length - 1));
        expect(() => decodeRenewals(bytes.subarray(0, length))).toThrow(/malformed/);
      }),
    );
  });

  it.each([
    ["another version", [2, 0, 1, 1, 5], /version 2 is not 1/],
    ["a version and nothing else", [1], /no group follows/],
    ["a partition over 65535", [1, 0x80, 0x80, 0x04, 1, 1, 5], /partition 65536/],
    ["no holds", [1, 0, 1, 0], /count 0/],
    ["more holds than bytes", [1, 0, 1, 200, 1, 5], /count 200/],
    ["a hold twice", [1, 0, 1, 2, 5, 0], /must ascend/],
    ["a number that is not in its shortest form", [1, 0x80, 0x00, 1, 1, 5], /shortest form/],
    ["a number of 54 bits", [1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x10, 1, 5], /2\^53 - 1/],
    ["a number without an end", [1, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80], /2\^53 - 1/],
    ["a sum over 2^53 - 1", [1, 0, 1, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 1], /below 2\^53/],
  ])("with %s are refused", (_, bytes, message) => {
    expect(() => decodeRenewals(Uint8Array.from(bytes))).toThrow(message);
  });

  it.each([
    { partition: -1, sendNumber: 1, holdIds: [1] },
    { partition: 65_536, sendNumber: 1, holdIds: [1] },
    { partition: 0, sendNumber: max + 1, holdIds: [1] },
    { partition: 0, sendNumber: 1.5, holdIds: [1] },
    { partition: 0, sendNumber: 1, holdIds: [] },
    { partition: 0, sendNumber: 1, holdIds: [2, 2] },
    { partition: 0, sendNumber: 1, holdIds: [2, 1] },
    { partition: 0, sendNumber: 1, holdIds: [Number.NaN] },
    { partition: 0, sendNumber: 1, holdIds: Array.from({ length: 65_537 }, (_, index) => index) },
  ])("cannot be made of a group that breaks the bounds (%#)", (group) => {
    expect(() => encodeRenewals([group])).toThrow(RangeError);
  });

  it("of ten thousand neighbouring holds take little more than a byte each", () => {
    const firstHoldId = 1_772_366_400_000_000;
    const holdIds = Array.from({ length: 10_000 }, (_, index) => firstHoldId + index * 3);
    expect(encodeRenewals([{ partition: 1, sendNumber: 7, holdIds }]).length).toBeLessThan(10_020);
  });
});
