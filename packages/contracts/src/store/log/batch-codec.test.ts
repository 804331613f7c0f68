import type { Event } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Batch } from "../../gen/tenure/log/v1/batch.ts";
import { snapshotReference, text, wide } from "../testing/arbitraries.ts";
import { anyEvent, eventKinds, eventOf, testEpoch } from "../testing/event-arbitraries.ts";
import { batchIdOf, decodeBatch, encodeBatch, type OutgoingBatch, prevBatchIdOf } from "./batch-codec.ts";

const batchId = "00112233445566778899aabbccddeeff";
const plain: OutgoingBatch = {
  partition: 3,
  epoch: testEpoch,
  prev: 41n,
  prevBatchId: "ff".repeat(16),
  wallMs: 1_700_000_000_123,
  events: [],
  batchId,
  writer: "store-1",
  incarnationId: "incarnation-1",
  snapshot: undefined,
};

const anyBatchId = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString("hex"));

const anyBatch: fc.Arbitrary<OutgoingBatch> = fc.record({
  partition: fc.integer({ min: 0, max: 255 }),
  epoch: fc.constant(testEpoch),
  prev: wide,
  prevBatchId: fc.option(anyBatchId, { nil: "" }),
  wallMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  events: fc.array(anyEvent, { maxLength: 12 }),
  batchId: anyBatchId,
  writer: text,
  incarnationId: text,
  snapshot: fc.option(snapshotReference, { nil: undefined }),
});

/** Renewals as a set of pairs: the packed form keeps neither their order nor who sent them. */
function normal(events: readonly Event[]) {
  const renewals = new Set<string>();
  for (const event of events) {
    if (event.kind === "renewed") for (const holdId of event.holdIds) renewals.add(`${event.sendNumber}/${holdId}`);
  }
  return { others: events.filter(({ kind }) => kind !== "renewed"), renewals: [...renewals].sort() };
}

function faultOf(act: () => unknown): Fault {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error("nothing was thrown");
}

describe("a batch", () => {
  it.each(eventKinds)("comes back from its payload with every %s event as it was", (kind) => {
    fc.assert(
      fc.property(eventOf(kind), (event) => {
        const batch = { ...plain, events: [event] };
        const { events, sequence, ...rest } = decodeBatch(99n, encodeBatch(batch));
        expect(normal(events)).toEqual(normal(batch.events));
        expect({ ...rest, sequence }).toEqual({ ...batch, events: undefined, sequence: 99n });
      }),
    );
  });

  it("comes back without the events that a reader leaves out", () => {
    const attempts = ["attemptRecorded", "attemptsForgotten"];
    fc.assert(
      fc.property(anyBatch, fc.boolean(), fc.boolean(), (batch, isWithAttempts, isWithGuarded) => {
        const leftOut = { attempts: !isWithAttempts, guarded: !isWithGuarded };
        const { events, ...rest } = decodeBatch(99n, encodeBatch(batch), leftOut);
        const wanted = batch.events.filter(({ kind }) =>
          attempts.includes(kind) ? isWithAttempts : isWithGuarded || kind !== "guardChanged",
        );
        expect(normal(events)).toEqual(normal(wanted));
        expect({ ...rest, events: undefined }).toEqual({ ...batch, events: undefined, sequence: 99n });
      }),
    );
  });

  it("comes back without the secrets of holders for who leaves them out, and otherwise whole", () => {
    fc.assert(
      fc.property(anyBatch, (batch) => {
        const wanted = batch.events.map((event) => {
          if (event.kind !== "holdGranted" || event.hold.details === undefined) return event;
          const { renewKeyHash: _, ...details } = event.hold.details;
          const { details: __, ...hold } = event.hold;
          return { ...event, hold: Object.keys(details).length === 0 ? hold : { ...hold, details } };
        });
        const { events } = decodeBatch(99n, encodeBatch(batch), { secrets: true });
        expect(normal(events)).toEqual(normal(wanted));
      }),
    );
  });

  it("comes back from its payload with all that it carries, and is written the same way twice", () => {
    fc.assert(
      fc.property(anyBatch, (batch) => {
        const payload = encodeBatch(batch);
        const read = decodeBatch(99n, payload);
        expect(normal(read.events)).toEqual(normal(batch.events));
        expect({ ...read, events: [] }).toEqual({ ...batch, sequence: 99n, events: [] });
        expect(encodeBatch(read)).toEqual(payload);
        expect(batchIdOf(payload)).toBe(batch.batchId);
        expect(prevBatchIdOf(payload)).toBe(batch.prevBatchId);
      }),
    );
  });

  it("keeps a duration with a fraction to the nanosecond, and no worse each time", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (heldForMs) => {
        const ended = { kind: "holdEnded", lease: "a/b", holdId: 1, token: 2n, endReason: "expired" } as const;
        const event: Event = { ...ended, heldForMs, successor: "", lockDelayMs: 0, author: "", reason: "" };
        const payload = encodeBatch({ ...plain, events: [event] });
        const [read] = decodeBatch(1n, payload).events;
        expect(read?.kind === "holdEnded" ? read.heldForMs : Number.NaN).toBeCloseTo(heldForMs, 5);
        expect(encodeBatch({ ...plain, events: read === undefined ? [] : [read] })).toEqual(payload);
      }),
    );
  });

  it("packs renewals in order and once, merged by send number, after all other events", () => {
    const cause = { author: "alice", reason: "" };
    const events: Event[] = [
      { kind: "renewed", holdIds: [9, 3], sendNumber: 5n, ...cause },
      { kind: "leaseRestored", lease: "a/b", ...cause },
      { kind: "renewed", holdIds: [3, 12], sendNumber: 5n, ...cause },
      { kind: "renewed", holdIds: [1], sendNumber: 4n, ...cause },
    ];
    expect(decodeBatch(1n, encodeBatch({ ...plain, events })).events).toEqual([
      { kind: "leaseRestored", lease: "a/b", ...cause },
      { kind: "renewed", holdIds: [3, 9, 12], sendNumber: 5n, author: "", reason: "" },
      { kind: "renewed", holdIds: [1], sendNumber: 4n, author: "", reason: "" },
    ]);
  });

  it("packs more renewals of one send than one group takes", () => {
    const holdIds = Array.from({ length: 70_000 }, (_, index) => 1_000 + index * 3);
    const event: Event = { kind: "renewed", holdIds, sendNumber: 8n, author: "", reason: "" };
    const { events } = decodeBatch(1n, encodeBatch({ ...plain, events: [event] }));
    expect(events.flatMap((read) => (read.kind === "renewed" ? read.holdIds : []))).toEqual(holdIds);
  });

  it("keeps bytes of its own, so that a record does not keep the payload alive", () => {
    const value = new Uint8Array([1, 2, 3]);
    const changed = { kind: "guardChanged", lease: "a/b", token: 1n, holder: "h", author: "", reason: "" } as const;
    const payload = encodeBatch({ ...plain, events: [{ ...changed, changes: [{ key: "k", value }] }] });
    const [read] = decodeBatch(1n, payload).events;
    const kept = read?.kind === "guardChanged" ? read.changes[0]?.value : undefined;
    expect(kept).toEqual(value);
    expect(kept?.buffer.byteLength).toBe(3);
  });

  it("of a higher format stops its reader", () => {
    const newer = { ...Batch.decode(encodeBatch(plain)), formatVersion: 2 };
    expect(faultOf(() => decodeBatch(77n, Batch.encode(newer).finish()))).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "FORMAT_TOO_NEW",
      message:
        "batch 77 was written by a newer version: its format is 2, and this version reads up to 1; upgrade this program",
    });
  });

  it("with a kind of event that is not known stops its reader", () => {
    // Field 9 (events), an event whose only field is number 99.
    const unknownEvent = new Uint8Array([0x4a, 0x03, 0x9a, 0x06, 0x00]);
    const payload = new Uint8Array([...encodeBatch(plain), ...unknownEvent]);
    expect(faultOf(() => decodeBatch(77n, payload))).toMatchObject({
      reason: "FORMAT_TOO_NEW",
      message: expect.stringContaining("event must be of a kind that this version knows"),
    });
  });

  it("with a word or a setting that is not known stops its reader", () => {
    const batch = Batch.decode(encodeBatch(plain));
    const lease = { namespace: "a", name: "b" };
    const ended = { $case: "holdEnded", value: { lease, holdId: 1n, token: 1n, endReason: 99 } } as const;
    const setting = { name: "new-setting", value: { $case: "limit", value: 1n } } as const;
    const events = [
      { event: ended as never },
      { event: { $case: "settingsChanged", value: { settings: [setting] } } as never },
    ];
    const payload = Batch.encode(Batch.fromPartial({ ...batch, events } as never)).finish();
    const { message, reason } = faultOf(() => decodeBatch(77n, payload));
    expect(reason).toBe("FORMAT_TOO_NEW");
    expect(message).toContain("hold_ended.end_reason must be a value that this version knows (got 99)");
    expect(message).toContain('settings_changed must be settings that this version knows (got "new-setting")');
  });

  it("that is cut short or empty is malformed, and has no id", () => {
    const payload = encodeBatch({
      ...plain,
      snapshot: { name: "3/9", sequence: 9n, digest: "00".repeat(32), sizeBytes: 1 },
    });
    expect(faultOf(() => decodeBatch(77n, payload.slice(0, -1)))).toMatchObject({
      code: "DATA_LOSS",
      reason: "MALFORMED_MESSAGE",
    });
    expect(faultOf(() => decodeBatch(77n, new Uint8Array(0))).reason).toBe("MALFORMED_MESSAGE");
    expect(batchIdOf(new Uint8Array([0xff]))).toBe("");
    expect(batchIdOf(new Uint8Array(0))).toBe("");
  });

  it("cannot be written with a wrong id or another epoch's owner", () => {
    expect(() => encodeBatch({ ...plain, batchId: "12" })).toThrow("must be 32 hexadecimal digits");
    expect(() => encodeBatch({ ...plain, prevBatchId: "12" })).toThrow("must be 32 hexadecimal digits");
    const owner = { owner: "a", previousEpoch: 0n, previousOwner: "", isHandedOver: false, author: "", reason: "" };
    const events: Event[] = [{ kind: "ownerChanged", epoch: 3n, ...owner }];
    expect(() => encodeBatch({ ...plain, events })).toThrow("epoch 3 cannot begin in a batch of epoch 7");
  });
});
