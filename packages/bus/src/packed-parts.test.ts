import * as fc from "fast-check";
import { expect, it } from "vitest";
import { packParts, partBytes, unpackParts } from "./packed-parts.ts";

const part = fc.record({
  number: fc.integer({ min: 1, max: 2 ** 48 - 1 }),
  label: fc.stringMatching(/^[A-Za-z!]{0,40}$/),
  payload: fc.uint8Array({ maxLength: 50 }),
});

it("gives back what was packed, in as many bytes as were foretold", () => {
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const packed = packParts(parts);
      expect(packed.byteLength).toBe(parts.reduce((sum, one) => sum + partBytes(one), 0));
      const unpacked = unpackParts(packed).map(({ payload, ...rest }) => ({
        ...rest,
        payload: Uint8Array.from(payload),
      }));
      expect(unpacked).toEqual(parts);
    }),
  );
});

it("refuses what is cut off within a part", () => {
  const packed = packParts([{ number: 7, label: "Say", payload: Uint8Array.of(1, 2, 3) }]);
  for (let length = 1; length < packed.byteLength; length += 1) {
    expect(() => unpackParts(packed.subarray(0, length))).toThrow(RangeError);
  }
});
