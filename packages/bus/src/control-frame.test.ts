import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeControlFrame, encodeCancel, encodeGrant } from "./control-frame.ts";

describe("control frames", () => {
  test("survive the round trip", () => {
    const subject = fc.stringMatching(/^[A-Za-z0-9._-]+$/);
    fc.assert(
      fc.property(subject, fc.integer({ min: 0, max: 2 ** 48 - 1 }), (call, total) => {
        expect(decodeControlFrame(encodeCancel(call))).toEqual({ kind: "cancel", call });
        expect(decodeControlFrame(encodeGrant(call, total))).toEqual({ kind: "grant", call, total });
      }),
    );
  });

  test("arbitrary bytes never throw", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 32 }), (bytes) => {
        decodeControlFrame(bytes);
      }),
    );
  });

  test("a frame without a call is none", () => {
    expect(decodeControlFrame(Uint8Array.of(1, 0, 0, 0, 0, 0, 0))).toBeUndefined();
  });
});
