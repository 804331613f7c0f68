import { LeaseKey, LeaseServiceAcquireRequest, Wait } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wireField, wirePath, withoutWireFields, withWireField } from "./wire-field.ts";

const request = LeaseServiceAcquireRequest.fromPartial({
  attempt: { clientId: "c", number: 300n },
  claims: [{ lease: { namespace: "n", name: "first" } }, { lease: { namespace: "n", name: "second" } }],
  claimant: { holder: "h" },
  wait: { timeout: { seconds: 3n, nanos: 0 }, supersedesKey: "" },
  sendNumber: 2n ** 40n,
});
const bytes = LeaseServiceAcquireRequest.encode(request).finish();

describe("wireField", () => {
  it("finds the first of a repeated field, by a path of numbers", () => {
    const key = wirePath(bytes, [2, 1]);
    expect(LeaseKey.decode(key ?? new Uint8Array(0))).toEqual({ namespace: "n", name: "first" });
  });

  it("finds nothing where there is nothing, and not a number in place of a message", () => {
    expect(wireField(bytes, 9)).toBeUndefined();
    expect(wireField(bytes, 5)).toBeUndefined();
    expect(wirePath(bytes, [9, 1])).toBeUndefined();
    expect(wireField(new Uint8Array(0), 1)).toBeUndefined();
  });

  it("tells an empty message from an absent one", () => {
    const waiting = LeaseServiceAcquireRequest.encode(LeaseServiceAcquireRequest.fromPartial({ wait: {} })).finish();
    expect(wireField(waiting, 4)).toEqual(new Uint8Array(0));
  });

  it("refuses bytes that are no message and never reads past their end", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.integer({ min: 1, max: 20 }), (noise, number) => {
        try {
          const found = wireField(noise, number);
          expect(found === undefined || found.length <= noise.length).toBe(true);
          withoutWireFields(noise, [number]);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(Fault);
          expect(thrown).toMatchObject({ code: "INVALID_ARGUMENT", reason: "MALFORMED_MESSAGE" });
        }
      }),
    );
  });
});

describe("withWireField", () => {
  it("replaces one field and leaves the others as they were", () => {
    const wait = Wait.encode(Wait.fromPartial({ beatNumber: 7n })).finish();
    expect(LeaseServiceAcquireRequest.decode(withWireField(bytes, 4, wait))).toEqual({
      ...request,
      wait: Wait.fromPartial({ beatNumber: 7n }),
    });
  });

  it("keeps fields that nobody here knows", () => {
    const unknown = Uint8Array.of(0xfa, 0x3f, 0x02, 0x68, 0x69); // Field 1023 with the text "hi".
    const changed = withWireField(Buffer.concat([bytes, unknown]), 1, new Uint8Array(0));
    expect(wireField(changed, 1023)).toEqual(Uint8Array.of(0x68, 0x69));
  });

  it("takes fields out, all of a number", () => {
    expect(LeaseServiceAcquireRequest.decode(withoutWireFields(bytes, [2, 4])).claims).toEqual([]);
  });
});
