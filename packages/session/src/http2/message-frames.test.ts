import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { frameMessage, MessageReader } from "./message-frames.ts";

describe("messages on a stream", () => {
  it("are found wherever it was cut", () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 });
    const cuts = fc.array(fc.nat(200), { maxLength: 8 });
    fc.assert(
      fc.property(messages, cuts, (sent, places) => {
        const stream = Buffer.concat(sent.map(frameMessage));
        const seen: number[][] = [];
        const reader = new MessageReader(100, (message) => seen.push([...message]));
        const ends = [...new Set([...places, stream.length])].sort((left, right) => left - right);
        let start = 0;
        for (const end of ends) {
          if (end > start) reader.take(stream.subarray(start, end));
          start = Math.max(start, end);
        }
        expect(seen).toEqual(sent.map((message) => [...message]));
      }),
    );
  });

  it("that come in crumbs and in nothing at all are not kept as such", () => {
    const sent = Buffer.alloc(20_000, 7);
    const seen: Uint8Array[] = [];
    const reader = new MessageReader(sent.length, (message) => seen.push(message));
    const concat = vi.spyOn(Buffer, "concat");
    for (const byte of frameMessage(sent)) {
      reader.take(Buffer.of(byte));
      reader.take(Buffer.alloc(0));
    }
    const pieces = concat.mock.calls.map(([list]) => list.length);
    concat.mockRestore();
    expect(seen.map((message) => sent.equals(message))).toEqual([true]);
    expect(Math.max(...pieces)).toBeLessThan(1_000);
    expect(pieces.length).toBeLessThan(1_000);
  });

  it("that are too long or compressed are refused before they are there", () => {
    const take = (bytes: number[]) => () => new MessageReader(10, () => {}).take(Buffer.from(bytes));
    expect(take([0, 0, 0, 0, 11])).toThrow("it sent a message of 11 bytes; 10 is the limit");
    expect(take([1, 0, 0, 0, 1])).toThrow("compressed");
  });
});
