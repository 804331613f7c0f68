import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeHeaders, encodeHeaders } from "./header-block.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

describe("a block of headers", () => {
  it("is read as it was written", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
    const value = fc.stringMatching(/^[ -~]{0,300}$/);
    fc.assert(
      fc.property(fc.dictionary(name, value), (headers) => {
        expect({ ...decodeHeaders(encodeHeaders(headers)) }).toEqual({ ...headers });
      }),
    );
  });

  // RFC 7541, C.3.1, C.4.1 and C.6.1: plain, shortened, and with numbers of the table everybody knows.
  it.each([
    ["828684 41 0f 7777772e6578616d706c652e636f6d", { ":path": "/", ":authority": "www.example.com" }],
    ["828684 41 8c f1e3c2e5f23a6ba0ab90f4ff", { ":method": "GET", ":authority": "www.example.com" }],
    ["48 82 6402 58 85 aec3771a4b", { ":status": "302", "cache-control": "private" }],
    ["3f e1 1f 88", { ":status": "200" }],
  ])("%s is read as the standard says", (block, expected) => {
    expect(decodeHeaders(hex(block))).toMatchObject(expected);
  });

  it.each(["be", "80", "00", "00 01", "00 01 61 05 61", "00 01 61 81 00", "00 01 61 84 ffffffff", "ff ffffffff 7f"])(
    "%s is refused",
    (block) => {
      expect(() => decodeHeaders(hex(block))).toThrow("it sent headers that cannot be read");
    },
  );

  it.each([
    ["bad name", "x"],
    ["a", "line\nfeed"],
    ["a", "\u2603"],
  ])("%j cannot hold %j", (name, value) => {
    expect(() => encodeHeaders({ [name]: value })).toThrow("no header can hold");
  });
});
