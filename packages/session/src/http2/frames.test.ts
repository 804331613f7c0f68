import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrameReader, frame, readSettings, settingsFrame } from "./frames.ts";

describe("frames on a connection", () => {
  it("are found wherever it was cut", () => {
    const one = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(0x7fff_ffff), fc.uint8Array({ maxLength: 40 }));
    fc.assert(
      fc.property(fc.array(one, { maxLength: 6 }), fc.integer({ min: 1, max: 30 }), (sent, step) => {
        const seen: unknown[] = [];
        const reader = new FrameReader((type, flags, stream, content) =>
          seen.push([type, flags, stream, [...content]]),
        );
        const bytes = Buffer.concat(sent.map((parts) => frame(...parts)));
        for (let at = 0; at < bytes.length; at += step) reader.take(bytes.subarray(at, at + step));
        expect(seen).toEqual(sent.map(([type, flags, stream, content]) => [type, flags, stream, [...content]]));
      }),
    );
  });

  it("of more than 16 KiB are refused before they are there", () => {
    const reader = new FrameReader(() => {});
    expect(() => reader.take(Buffer.from([0, 0x40, 1, 0, 0, 0, 0, 0, 1]))).toThrow("a frame of 16385 bytes");
  });

  it("of settings are read as they were written, and not when they are cut off", () => {
    const content = settingsFrame([
      [4, 70_000],
      [0xf7e1, 1],
    ]).subarray(9);
    expect([...readSettings(content)]).toEqual([
      [4, 70_000],
      [0xf7e1, 1],
    ]);
    expect(() => [...readSettings(content.subarray(1))]).toThrow("cut off");
  });
});
