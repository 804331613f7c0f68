import type { Event as CoreEvent } from "@tenure/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Event } from "../../gen/tenure/log/v1/event.ts";
import { Reading } from "../reading.ts";
import { eventFromWire, eventToWire, type SingleEvent } from "./event-codec.ts";
import { readPlainTerm } from "./plain-terms.ts";

const hold = {
  id: 41,
  token: 1_790_000_000_000_007n,
  holder: "host-1",
  holderKey: "7",
  principal: "alice",
  mode: "exclusive",
  units: 1,
  origin: "acquired",
  leaseDurationMs: 15_000,
  lockDelayMs: 0,
} as const;
const cause = { author: "alice", reason: "because" };
const granted: SingleEvent = { kind: "holdGranted", lease: "billing/scheduler", hold, transitions: 3, ...cause };
const ended: SingleEvent = {
  kind: "holdEnded",
  lease: "billing/acct:1",
  holdId: 41,
  token: 2n ** 53n - 1n,
  endReason: "released",
  heldForMs: 12.345678,
  successor: "host-2",
  lockDelayMs: 1_500,
  ...cause,
};
const secret = "ab".repeat(32);
const withSecret: SingleEvent = { ...granted, hold: { ...hold, details: { renewKeyHash: secret } } };

function encoded(event: SingleEvent): Uint8Array {
  return Event.encode(eventToWire(event, 1n)).finish();
}

function generally(bytes: Uint8Array): CoreEvent | undefined {
  try {
    const reading = new Reading();
    const event = eventFromWire(reading, Event.decode(bytes), 1n);
    return reading.isBroken ? undefined : event;
  } catch {
    return undefined;
  }
}

const read = (bytes: Uint8Array, isSecretKept = true) => readPlainTerm(bytes, 0, bytes.length, isSecretKept);

describe("readPlainTerm", () => {
  it.each([granted, withSecret, ended])("reads what most of a log is made of: %o", (event) => {
    expect(read(encoded(event))).toEqual(event);
  });

  it("reads in the middle of a message", () => {
    const bytes = encoded(ended);
    const framed = new Uint8Array([9, 9, ...bytes, 9]);
    expect(readPlainTerm(framed, 2, 2 + bytes.length, true)).toEqual(ended);
  });

  it("leaves a secret out for who does not keep it", () => {
    expect(read(encoded(withSecret), false)).toEqual(granted);
  });

  it.each([
    ["a term with an identity", { ...granted, hold: { ...hold, details: { identity: "host-1-7-abc" } } }],
    ["a holder beyond ASCII", { ...granted, hold: { ...hold, holder: "hôte" } }],
    ["another kind", { kind: "leaseRestored", lease: "a/b", ...cause }],
  ] as [string, SingleEvent][])("leaves %s to the general decoder", (_, event) => {
    expect(read(encoded(event))).toBeUndefined();
  });

  it("leaves a number of more than 32 bits to the general decoder, where there may be none", () => {
    const largest = { ...granted, transitions: 2 ** 32 - 1 };
    expect(read(encoded(largest))).toEqual(largest);
    const bytes = encoded(largest);
    // The last byte of the number, which is the last field.
    bytes[bytes.length - 1] = 0x1f;
    expect(read(bytes)).toBeUndefined();
  });

  it("never says anything else than the general decoder, whatever the bytes are", () => {
    const originals = [granted, withSecret, ended].map(encoded);
    const damage = fc.array(fc.record({ place: fc.nat(200), byte: fc.nat(255) }), { maxLength: 3 });
    fc.assert(
      fc.property(fc.constantFrom(...originals), damage, fc.nat(200), (original, damages, cut) => {
        const bytes = original.slice(0, Math.max(0, original.length - (cut > 20 ? 0 : cut)));
        for (const { byte, place } of damages) bytes[place % Math.max(1, bytes.length)] = byte;
        const plain = read(bytes);
        if (plain !== undefined) expect(plain).toEqual(generally(bytes));
      }),
      { numRuns: 5_000 },
    );
  });
});
