import { describe, expect, it } from "vitest";
import { Hold } from "./hold.ts";
import { LeaseRecord } from "./lease.ts";
import { defaultLeaseSpec } from "./lease-spec.ts";
import type { Position } from "./position.ts";

type IsMethod<Value> = Value extends (...args: never[]) => unknown ? true : false;
/** Every property, so that one that is added does not compile before it is here. */
type AllProperties = {
  -readonly [Key in keyof LeaseRecord as IsMethod<LeaseRecord[Key]> extends true ? never : Key]-?: NonNullable<
    LeaseRecord[Key]
  >;
};

const at = (sequence: bigint): Position => ({ sequence, wallMs: 1, seenAtMs: 2 });

/** All but what the original alone knows, and what follows from the rest. */
function everything(record: LeaseRecord): Omit<AllProperties, "shown" | "isHeld"> {
  const facts = { id: 1, token: 2n, holder: "h", holderKey: "", principal: "p", mode: "exclusive", units: 1 } as const;
  const more = { origin: "acquired", leaseDurationMs: 15_000, lockDelayMs: 0 } as const;
  const line = { position: at(7n), kind: "granted", holder: "h", token: 2n, author: "p", cause: "acquired" } as const;
  return {
    key: "a/b",
    created: at(3n),
    uid: 4,
    revision: at(5n),
    spec: { ...defaultLeaseSpec },
    lastToken: 6n,
    transitions: 7,
    lastEndReason: "released",
    freeSince: at(8n),
    preferredHolder: "c",
    isHistoryTruncated: true,
    dueTick: 9,
    pending: { token: 1n, candidate: "c", electedBy: "e", decisionId: "d", acceptWindowMs: 1, from: at(9n) },
    lockDelay: { from: at(10n), delayMs: 11 },
    deletion: { endReason: "deleted", author: "a", reason: "r" },
    strategy: {} as AllProperties["strategy"],
    conflict: {} as AllProperties["conflict"],
    endOfTerm: {} as AllProperties["endOfTerm"],
    eligibility: {} as AllProperties["eligibility"],
    migration: {} as AllProperties["migration"],
    candidates: new Map(),
    guarded: new Map(),
    decisions: [],
    holds: [new Hold(record, { ...facts, ...more }, at(12n), at(12n))],
    history: [line],
  };
}

describe("LeaseRecord", () => {
  it("has a copy with every property that it has", () => {
    const record = new LeaseRecord("a/b", at(5n));
    const all = everything(record);
    Object.assign(record, all);
    const copy = record.copy();
    expect(Object.fromEntries(Object.keys(all).map((key) => [key, Reflect.get(copy, key)]))).toEqual(all);
    expect(copy.holds[0]).toBe(record.holds[0]);
    record.shown = copy;
    expect(record.copy().shown).toBeUndefined();
  });

  it("has a copy that takes no room for what it does not have", () => {
    const record = new LeaseRecord("a/b", at(5n));
    record.pending = undefined;
    expect(Object.keys(record.copy())).toEqual(Object.keys(new LeaseRecord("a/b", at(5n))));
  });

  it("keeps in a copy what it was, and takes the changes that it is given", () => {
    const record = new LeaseRecord("a/b", at(5n));
    const copy = record.copy({ lastEndReason: "expired" });
    record.lastToken = 9n;
    expect([copy.lastToken, copy.lastEndReason, record.lastEndReason]).toEqual([0n, "expired", undefined]);
  });
});
