import type { Event } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TermPack } from "./pack-terms.ts";
import { unpackTerms } from "./unpack-terms.ts";

const cause = { author: "alice", reason: "" };
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
const granted = { kind: "holdGranted", lease: "billing/scheduler", hold, transitions: 3, ...cause } as const;
const ended = {
  kind: "holdEnded",
  lease: "billing/acct:1",
  holdId: 41,
  token: 2n ** 53n - 1n,
  endReason: "released",
  heldForMs: 12.345678,
  successor: "host-2",
  lockDelayMs: 1_500,
  ...cause,
} as const;
const attempt = { kind: "attemptRecorded", client: "alice\nclient-1", number: 7n, settledBelow: 5n, ...cause } as const;
const gotIt = { kind: "granted", grants: [{ lease: granted.lease, holdId: 41, token: hold.token, sendNumber: 9n }] };
const acquired = { ...attempt, digest: 0xfedcba98, outcome: gotIt } as Event;
const released = { ...attempt, digest: 1, outcome: { kind: "released", released: [true] } } as Event;
const notHeld = { ...attempt, digest: 0, outcome: { kind: "released", released: [false] } } as Event;
const changes = [
  { key: "config", value: new Uint8Array([0, 255, 7]) },
  { key: "größe", value: undefined },
  { key: "empty", value: new Uint8Array(0) },
];
const changed = {
  kind: "guardChanged",
  lease: granted.lease,
  token: 12n,
  holder: "host-1",
  changes,
  ...cause,
} as const;
const wrote = { kind: "guardedChanged", lease: granted.lease, existed: true } as const;
const rewritten = { ...attempt, digest: 3, outcome: wrote } as Event;
const written = { ...attempt, digest: 4, outcome: { ...wrote, existed: false } } as Event;
const details = { renewKeyHash: "ab".repeat(32), identity: "host-1-7-abc" };
const withSecret: Event = { ...granted, hold: { ...hold, details } };

function packed(events: readonly Event[]): Uint8Array {
  const pack = new TermPack();
  for (const event of events) expect(pack.add(event)).toBe(true);
  return pack.take() ?? new Uint8Array(0);
}

function unpacked(bytes: Uint8Array, leftOut = {}): readonly Event[] {
  const events: Event[] = [];
  unpackTerms(bytes, leftOut, events);
  return events;
}

const reasonOf = (act: () => unknown): string => {
  try {
    act();
  } catch (thrown) {
    return thrown instanceof Fault ? thrown.reason : "refused";
  }
  return "taken";
};

describe("packed terms", () => {
  it("come back as the events that they stand for, in their order", () => {
    const events = [
      granted,
      acquired,
      changed,
      written,
      ended,
      released,
      withSecret,
      acquired,
      notHeld,
      rewritten,
      ended,
    ];
    expect(unpacked(packed(events))).toEqual(events);
  });

  it("come back whatever the terms are called, held by and measured in", () => {
    const name = fc.oneof(fc.constantFrom("a", "b", "hôte", "名前"), fc.string({ maxLength: 300, unit: "grapheme" }));
    const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    const periodMs = fc.integer({ min: 0, max: 10_000_000_000 });
    const lease = name.map((text) => `space/${text}`);
    const anyGranted = fc
      .record({ lease, id: number, token: number, holder: name, author: name, periodMs })
      .map((one) => {
        const its = { id: one.id, token: BigInt(one.token), holder: one.holder, leaseDurationMs: one.periodMs };
        return { ...granted, lease: one.lease, author: one.author, hold: { ...hold, ...its } };
      });
    const anyEnded = fc.record({ lease, holdId: number, successor: name, heldForMs: periodMs }).map((one) => {
      return { ...ended, ...one };
    });
    const value = fc.option(fc.uint8Array({ maxLength: 20_000 }), { nil: undefined });
    const anyChanges = fc.array(fc.record({ key: name, value }), { minLength: 1, maxLength: 5 });
    const anyChanged = fc.record({ lease, holder: name, author: name, changes: anyChanges }).map((one) => {
      return { ...changed, ...one };
    });
    const any = fc.oneof(anyGranted, anyEnded, anyChanged, fc.constant(released));
    const anyEvents = fc.array(any, { minLength: 1 });
    fc.assert(
      fc.property(anyEvents, (events) => {
        expect(unpacked(packed(events))).toEqual(events);
      }),
    );
  });

  it("take less than 50 bytes each when they are alike, where single events take 250", () => {
    const pairs = Array.from({ length: 32 }, (_, index): readonly Event[] => {
      const its = { ...withSecret, lease: `bench/pair-${index}` };
      const outcome = { kind: "granted", grants: [{ ...gotIt.grants[0], lease: its.lease }] };
      return [its, { ...acquired, outcome } as Event];
    });
    expect(packed(pairs.flat()).length).toBeLessThan(32 * 50);
  });

  it("keep nothing of the message that they came in", () => {
    const bytes = packed([changed]);
    const [read] = unpacked(bytes);
    bytes.fill(9);
    expect(read).toEqual(changed);
  });

  it("leave guarded values out for who does without them, and what comes after is the same", () => {
    const bytes = packed([changed, written, granted, acquired, ended]);
    expect(unpacked(bytes, { guarded: true })).toEqual([written, granted, acquired, ended]);
    expect(unpacked(bytes, { guarded: true, attempts: true })).toEqual([granted, ended]);
  });

  it("leave attempts and secrets out for who does without them", () => {
    const { identity } = details;
    const bytes = packed([withSecret, acquired, ended]);
    expect(unpacked(bytes, { attempts: true })).toEqual([withSecret, ended]);
    expect(unpacked(bytes, { secrets: true })).toEqual([
      { ...granted, hold: { ...hold, details: { identity } } },
      acquired,
      ended,
    ]);
  });

  it.each([
    ["a term with a reason", { ...granted, reason: "because" }],
    ["a term with more details", { ...granted, hold: { ...hold, details: { candidate: "c" } } }],
    ["a token beyond 2^53", { ...ended, token: 2n ** 53n }],
    ["an attempt of a term that another item began", acquired],
    ["an attempt that got several terms", { ...acquired, outcome: { kind: "granted", grants: [] } }],
    ["an attempt that wrote what no item says", written],
    ["a guarded write with a reason", { ...changed, reason: "because" }],
    ["an attempt of another kind", { ...attempt, digest: 1, outcome: { kind: "collected", isCollected: true } }],
    ["another fact", { kind: "leaseRestored", lease: "a/b", ...cause }],
  ] as [string, Event][])("have no place for %s", (_, event) => {
    const pack = new TermPack();
    expect(pack.add(event)).toBe(false);
    expect(pack.take()).toBeUndefined();
  });

  it("are refused as too new when their layout, an item or a word is not known", () => {
    const bytes = packed([ended]);
    expect(reasonOf(() => unpacked(bytes.with(0, 2)))).toBe("FORMAT_TOO_NEW");
    expect(reasonOf(() => unpacked(bytes.with(1, 10)))).toBe("FORMAT_TOO_NEW");
    // The two differ in the word alone.
    const other = packed([{ ...ended, endReason: "expired" }]);
    const word = bytes.findIndex((byte, place) => byte !== other[place]);
    expect(reasonOf(() => unpacked(bytes.with(word, 99)))).toBe("FORMAT_TOO_NEW");
  });

  it("are refused or read when they are damaged, and nothing else happens", () => {
    const original = packed([withSecret, acquired, ended, released, changed, written, granted, notHeld, rewritten]);
    const damage = fc.array(fc.record({ place: fc.nat(original.length - 1), byte: fc.nat(255) }), { maxLength: 3 });
    fc.assert(
      fc.property(damage, fc.nat(original.length), (damages, length) => {
        const bytes = original.slice(0, length);
        for (const { byte, place } of damages) if (place < length) bytes[place] = byte;
        for (const leftOut of [{}, { attempts: true, guarded: true }]) {
          expect(["taken", "refused", "FORMAT_TOO_NEW"]).toContain(reasonOf(() => unpacked(bytes, leftOut)));
        }
      }),
      { numRuns: 5_000 },
    );
  });
});
