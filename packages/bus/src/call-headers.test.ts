import { MsgHdrsImpl, MsgImpl } from "@nats-io/transport-node";
import { Fault } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CallMetadata,
  decodeCallHeaders,
  encodeCallHeaders,
  failureHeaders,
  metadataOf,
  replyKind,
} from "./call-headers.ts";

const nobody = { publish: () => {}, publishMessage: () => {}, respondMessage: () => false };

/** What the other side reads of headers that were sent. */
function overTheWire(metadata: CallMetadata): CallMetadata {
  const { headers, byteLength } = encodeCallHeaders(metadata);
  const bytes = (headers as MsgHdrsImpl).encode();
  expect(bytes.byteLength).toBe(byteLength);
  const head = { subject: new Uint8Array(0), sid: 1, hdr: byteLength, size: byteLength };
  const read = metadataOf(new MsgImpl(head, bytes, nobody));
  // What is known already is no other for it.
  expect(metadataOf(new MsgImpl(head, Uint8Array.from(bytes), nobody))).toEqual(read);
  return read;
}

function headersOf(record: Record<string, string>): MsgHdrsImpl {
  const headers = new MsgHdrsImpl();
  for (const [key, value] of Object.entries(record)) headers.append(key, value);
  return headers;
}

describe("call headers", () => {
  test("survive the round trip", () => {
    const trace = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: "a=1,b=2" };
    const full: CallMetadata = { deadlineMs: 250, principal: "ann", trace, window: 16, beatMs: 500 };
    expect(overTheWire(full)).toEqual(full);
    expect(overTheWire({ principal: "anonymous", deadlineMs: 1 })).toEqual({ principal: "anonymous", deadlineMs: 1 });
  });

  test("round a deadline up, so that a call that is sent has time", () => {
    expect(overTheWire({ principal: "anonymous", deadlineMs: 0.2 }).deadlineMs).toBe(1);
    expect(overTheWire({ principal: "anonymous", deadlineMs: 1000.01 }).deadlineMs).toBe(1001);
  });

  test("of calls that differ in anything differ", () => {
    const base: CallMetadata = { principal: "anonymous", deadlineMs: 77 };
    const variants: CallMetadata[] = [
      base,
      { ...base, deadlineMs: 78 },
      { ...base, principal: "b" },
      { ...base, window: 7 },
    ];
    expect(variants.map(overTheWire)).toEqual(variants);
    expect(variants.map(overTheWire)).toEqual(variants);
  });

  test("carry any principal unchanged or refuse it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (principal) => {
        try {
          expect(overTheWire({ principal }).principal).toBe(principal);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      }),
    );
  });

  test("absent mean an anonymous call without a deadline", () => {
    expect(decodeCallHeaders(undefined)).toEqual({ principal: "anonymous" });
  });

  test.each(["", "-1", "0", "1.5", "1e3", "NaN", "9".repeat(30)])("refuse the deadline %j", (text) => {
    expect(() => decodeCallHeaders(headersOf({ "Tenure-Deadline-Ms": text }))).toThrow(/Tenure-Deadline-Ms must be/);
  });

  test("tell a failure and a missing responder from a reply", () => {
    expect(replyKind(failureHeaders.headers)).toBe("failure");
    expect(replyKind(new MsgHdrsImpl(503, "no responders"))).toBe("no-responder");
    expect(replyKind(headersOf({ Other: "1" }))).toBe("reply");
  });
});
