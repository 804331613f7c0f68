import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KnownBytes } from "./known-bytes.ts";

const latin1 = (bytes: Uint8Array, from: number, to: number) =>
  Buffer.from(bytes.subarray(from, to)).toString("latin1");

describe("KnownBytes", () => {
  it("says of any bytes what would be made of them, however few places it has", () => {
    const known = new KnownBytes(latin1, 2);
    const pieces = fc.array(fc.uint8Array({ maxLength: 140 }), { minLength: 1 });
    fc.assert(
      fc.property(pieces, (all) => {
        for (const bytes of [...all, ...all, ...all]) {
          const framed = new Uint8Array([7, ...bytes, 7]);
          expect(known.of(framed, 1, 1 + bytes.length)).toBe(latin1(bytes, 0, bytes.length));
        }
      }),
    );
  });

  it("makes what comes again no third time, and keeps nothing of the buffer that it came in", () => {
    let made = 0;
    const known = new KnownBytes((bytes, from, to) => {
      made += 1;
      return latin1(bytes, from, to);
    });
    for (let times = 1; times <= 5; times += 1) {
      const buffer = Buffer.from("-abc-");
      expect(known.of(buffer, 1, 4)).toBe("abc");
      buffer.fill("x");
    }
    expect(made).toBe(2);
  });
});
