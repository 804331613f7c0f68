import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeStreamFrame, encodeBeat, encodeEnd, encodeItems, encodeOpened } from "./stream-frame.ts";

const frameNumber = fc.integer({ min: 1, max: 2 ** 48 - 1 });

describe("stream frames", () => {
  test("items survive the round trip in order, whatever their sizes", () => {
    fc.assert(
      fc.property(frameNumber, fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1 }), (number, items) => {
        const total = items.reduce((sum, item) => sum + item.byteLength, 0);
        const frame = decodeStreamFrame(encodeItems(number, items, total));
        expect(frame?.kind).toBe("items");
        expect(frame?.number).toBe(number);
        const decoded = frame?.kind === "items" ? frame.items : [];
        expect(decoded.map((item) => [...item])).toEqual(items.map((item) => [...item]));
      }),
    );
  });

  test("opened, beat and end survive the round trip", () => {
    fc.assert(
      fc.property(frameNumber, (number) => {
        expect(decodeStreamFrame(encodeOpened(number, "k3J_x-9"))).toEqual({
          kind: "opened",
          number,
          instance: "k3J_x-9",
        });
        expect(decodeStreamFrame(encodeBeat(number))).toEqual({ kind: "beat", number });
        expect(decodeStreamFrame(encodeEnd(number))).toEqual({ kind: "end", number });
      }),
    );
  });

  test("a truncated frame of items is refused, never read in part", () => {
    const frame = encodeItems(1, [Uint8Array.of(1, 2, 3), Uint8Array.of(4)], 4);
    const whole = frame.byteLength;
    // Cut after the first item the frame is a whole shorter one; every other cut is inside an item.
    for (let length = 0; length < whole; length += 1) {
      const cut = decodeStreamFrame(frame.subarray(0, length));
      if (length === 7 + 4 + 3) expect(cut).toMatchObject({ kind: "items" });
      else expect(cut).toBeUndefined();
    }
  });

  test("arbitrary bytes never throw", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        decodeStreamFrame(bytes);
      }),
      { numRuns: 2_000 },
    );
  });
});
