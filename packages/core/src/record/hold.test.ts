import { describe, expect, it } from "vitest";
import { Hold, type HoldFacts } from "./hold.ts";
import { LeaseRecord } from "./lease.ts";
import { originPosition } from "./position.ts";

const position = originPosition(0);
const lease = new LeaseRecord("test/a", position);
const facts: HoldFacts = {
  id: 7,
  token: 3n,
  holder: "h",
  holderKey: "k",
  principal: "p",
  mode: "shared",
  units: 2,
  origin: "elected",
  leaseDurationMs: 15_000,
  lockDelayMs: 10,
};

function holdOf(more: Partial<HoldFacts> = {}): Hold {
  return new Hold(lease, { ...facts, ...more }, position, position);
}

describe("a hold", () => {
  it("shows the facts that it was made of, whatever others have in common with it", () => {
    const others = [{ principal: "p k", holderKey: "" }, { principal: "p ", holderKey: "k" }, { units: 3 }];
    for (const more of [{}, ...others, {}]) expect(holdOf(more)).toMatchObject({ ...facts, ...more });
  });

  it("changes its duration alone", () => {
    const [changed, other] = [holdOf(), holdOf()];
    const copy = changed.copy();
    changed.leaseDurationMs = 9_000;
    expect(changed).toMatchObject({ ...facts, leaseDurationMs: 9_000 });
    expect([other.leaseDurationMs, copy.leaseDurationMs]).toEqual([15_000, 15_000]);
  });

  it("shares the details that all terms of a client have, and no others", () => {
    const details = () => ({ renewKeyHash: "ab", identity: "i" });
    expect(holdOf({ details: details() }).details).toBe(holdOf({ details: details() }).details);
    expect(holdOf({ details: { renewKeyHash: "ab" } }).details).toEqual({ renewKeyHash: "ab" });
    const elected = { ...details(), decisionId: "d" };
    expect(holdOf({ details: elected }).details).toBe(elected);
  });

  it("has a copy that keeps what it was", () => {
    const hold = holdOf({ details: { value: new Uint8Array([1]) } });
    hold.revocation = { endReason: "revoked", author: "a", reason: "r" };
    const copy = hold.copy();
    hold.revocation = undefined;
    expect(copy).toMatchObject({ ...facts, details: hold.details, revocation: { author: "a" }, lease });
  });
});
