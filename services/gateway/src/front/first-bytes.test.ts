import { clientOpening, preface } from "@tenure/session/http2";
import { describe, expect, it } from "vitest";
import { isOneSession } from "./first-bytes.ts";

const sdk = clientOpening({ ":path": "/x" });
/** Two settings of a stock client, as HTTP/2 has them. */
const settings = Buffer.from([0, 0, 12, 4, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 0, 0, 0xff, 0xff]);
const stock = Buffer.concat([preface, settings]);

describe("the first bytes of a connection", () => {
  it("tell the SDK's from a stock client's, and from what is no HTTP/2", () => {
    expect(isOneSession(sdk)).toBe(true);
    expect(isOneSession(stock)).toBe(false);
    expect(isOneSession(Buffer.from("GET / HTTP/1.1\r\n\r\n"))).toBe(false);
    expect(isOneSession(Buffer.concat([preface, Buffer.alloc(40)]))).toBe(false);
  });

  it("tell nothing before all of them are there", () => {
    const end = preface.length + 9 + (sdk[preface.length + 2] ?? 0);
    for (let length = 0; length < end; length += 1) expect(isOneSession(sdk.subarray(0, length))).toBeUndefined();
    expect(isOneSession(sdk.subarray(0, end))).toBe(true);
    for (let length = 0; length < stock.length; length += 1) {
      expect(isOneSession(stock.subarray(0, length))).toBeUndefined();
    }
  });
});
