import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outcomeOf } from "./append-channel.ts";

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe("outcomeOf", () => {
  it("reads an acknowledgement with a sequence beyond 32 bits exactly", () => {
    const reply = bytes({ stream: "TENURE_LOG", seq: 1763270400000001 });
    expect(outcomeOf(0, reply)).toEqual({ kind: "acked", sequence: 1763270400000001n });
  });

  it("reads a conflict with the sequence that it names", () => {
    const reply = bytes({
      error: { code: 400, err_code: 10071, description: "wrong last sequence: 7" },
      stream: "S",
      seq: 0,
    });
    expect(outcomeOf(0, reply)).toEqual({
      kind: "refused",
      refusal: "Conflict",
      description: "wrong last sequence: 7",
      lastSequence: 7n,
    });
  });

  it("takes a missing responder for not applied", () => {
    expect(outcomeOf(503, new Uint8Array())).toMatchObject({ kind: "refused", refusal: "Unavailable" });
  });

  it.each([
    "null",
    "5",
    "[]",
    "{}",
    '{"seq":1.5}',
    '{"seq":"7"}',
    '{"seq":9007199254740993}',
    '{"error":null}',
    '{"error":"x","seq":0.5}',
    '{"error":{}}',
  ])("takes %s for ambiguous", (text) => {
    expect(outcomeOf(0, new TextEncoder().encode(text))).toMatchObject({ kind: "refused", refusal: "Ambiguous" });
  });

  it("never calls an answer that it cannot read anything but ambiguous", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (body) => {
        const outcome = outcomeOf(0, body);
        expect(outcome).toMatchObject({ kind: "refused", refusal: "Ambiguous" });
      }),
    );
  });
});
