import { describe, expect, it } from "vitest";
import type { Event, EventBody } from "../partition/event.ts";
import type { HoldFacts } from "../record/hold.ts";
import { Oracle } from "./oracle.ts";

const lease = "ns/x";
const by = (author: string, body: EventBody): Event => ({ ...body, author, reason: "" });

function granted(id: number, token: bigint, holder: string, more: Partial<HoldFacts> = {}): Event {
  const hold: HoldFacts = {
    id,
    token,
    holder,
    holderKey: "",
    principal: holder,
    mode: "exclusive",
    units: 1,
    origin: "acquired",
    leaseDurationMs: 15_000,
    lockDelayMs: 0,
    ...more,
  };
  return by(holder, { kind: "holdGranted", lease, hold, transitions: 0 });
}

function ended(
  holdId: number,
  token: bigint,
  endReason: "expired" | "released" | "revoked",
  author = "",
  lockDelayMs = 0,
): Event {
  return by(author, { kind: "holdEnded", lease, holdId, token, endReason, heldForMs: 0, successor: "", lockDelayMs });
}

const write = (token: bigint, author: string) =>
  by(author, { kind: "guardChanged", lease, token, holder: author, changes: [{ key: "k", value: undefined }] });

/** Each log has one planted fault: [what it is, the batches with their times, what the oracle must say]. */
const faults: readonly (readonly [string, readonly (readonly [number, readonly Event[]])[], RegExp])[] = [
  [
    "a token given again",
    [
      [0, [granted(1, 5n, "a")]],
      [1, [ended(1, 5n, "released", "a")]],
      [2, [granted(2, 5n, "b")]],
    ],
    /not above 5/,
  ],
  [
    "two terms in one batch",
    [[0, [granted(1, 5n, "a"), ended(1, 5n, "released", "a"), granted(2, 6n, "b")]]],
    /second token/,
  ],
  [
    "two holders",
    [
      [0, [granted(1, 5n, "a")]],
      [1, [granted(2, 6n, "b")]],
    ],
    /while a holds it/,
  ],
  [
    "a writer beside a reader",
    [
      [0, [granted(1, 5n, "a", { mode: "shared" })]],
      [1, [granted(2, 6n, "b")]],
    ],
    /while a holds it/,
  ],
  [
    "an early expiry",
    [
      [0, [granted(1, 5n, "a")]],
      [14_999, [ended(1, 5n, "expired")]],
    ],
    /ended \(expired\) 14999 ms/,
  ],
  [
    "an operator that frees at once",
    [
      [0, [granted(1, 5n, "a")]],
      [9, [ended(1, 5n, "revoked", "op")]],
    ],
    /ended \(revoked\)/,
  ],
  [
    "a renewal by another",
    [
      [0, [granted(1, 5n, "a")]],
      [1, [by("b", { kind: "renewed", holdIds: [1], sendNumber: 1n })]],
    ],
    /b renewed/,
  ],
  ["a renewal of nothing", [[0, [by("b", { kind: "renewed", holdIds: [1], sendNumber: 1n })]]], /does not run/],
  ["an end of nothing", [[0, [ended(1, 5n, "released", "a")]]], /does not run/],
  [
    "a fenced write",
    [
      [0, [granted(1, 5n, "a")]],
      [1, [ended(1, 5n, "released", "a")]],
      [2, [granted(2, 6n, "b")]],
      [3, [write(5n, "a")]],
    ],
    /token 5 of ns\/x was accepted after 6/,
  ],
  [
    "a write by another",
    [
      [0, [granted(1, 5n, "a")]],
      [1, [write(5n, "b")]],
    ],
    /b wrote/,
  ],
  [
    "a write under a shared hold",
    [
      [0, [granted(1, 5n, "a", { mode: "shared" })]],
      [1, [write(5n, "a")]],
    ],
    /shared hold/,
  ],
  [
    "a hold id given again",
    [
      [0, [granted(1, 5n, "a")]],
      [1, [ended(1, 5n, "released", "a")]],
      [2, [granted(1, 6n, "b")]],
    ],
    /hold id 1/,
  ],
  [
    "a lock delay that is forgotten",
    [
      [0, [granted(1, 5n, "a", { lockDelayMs: 9 })]],
      [15_000, [ended(1, 5n, "expired")]],
    ],
    /without its lock delay/,
  ],
  [
    "a grant within the lock delay",
    [
      [0, [granted(1, 5n, "a", { lockDelayMs: 9 })]],
      [15_000, [ended(1, 5n, "expired", "", 9)]],
      [15_008, [granted(2, 6n, "b")]],
    ],
    /1 ms before its lock delay/,
  ],
];

describe("the oracle", () => {
  it.each(faults)("finds %s", (_, batches, message) => {
    const oracle = new Oracle();
    expect(() => {
      for (const [now, events] of batches) oracle.judge(events, now);
    }).toThrow(message);
  });

  it("is content with a sound log", () => {
    const oracle = new Oracle();
    oracle.judge([granted(1, 5n, "a"), write(5n, "a")], 0);
    oracle.judge([by("a", { kind: "renewed", holdIds: [1], sendNumber: 1n })], 10_000);
    oracle.judge([ended(1, 5n, "expired"), granted(2, 6n, "b")], 25_000);
    expect(oracle.seen.get("holdGranted")).toBe(2);
  });
});
