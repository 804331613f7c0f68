import { describe, expect, it } from "vitest";
import { leaseStateOf } from "../lease-state.ts";
import { claimOf, Desk } from "../testing/desk.ts";

const lease = "billing/scheduler";
const operator = { principal: "op", reason: "misbehaves" };
const at = (desk: Desk) => desk.record(lease).revision.sequence;

describe("revoke (rule 15)", () => {
  it("frees nothing at once: renewals and writes are refused with the reason, grants until L after the last renewal", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.advance(1_000);
    expect(desk.run({ kind: "revoke", lease, expectedRevision: at(desk), token: 0n }, operator).kind).toBe("changed");
    expect(leaseStateOf(desk.record(lease), desk.now)).toBe("tombstone");
    const refused = { kind: "revoked", lease, token, reason: "misbehaves" };
    expect(desk.run({ kind: "renew", items: [{ lease, token, sendNumber: 1n }] }, "a")).toMatchObject({
      results: [refused],
    });
    const changes = [{ key: "k", value: new Uint8Array() }];
    expect(desk.run({ kind: "guard", lease, token, comparisons: [], changes }, "a")).toEqual(refused);
    expect(desk.try("b", lease)).toEqual({ kind: "tombstone", lease, token, retryAfterMs: 14_000 });
    desk.advance(14_000);
    desk.take("b", lease);
    expect(desk.record(lease).history.map(({ cause }) => cause)).toContain("revoked");
  });

  it("tells the holder also after its term has run out", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.run({ kind: "revoke", lease, expectedRevision: at(desk), token }, operator);
    desk.advance(15_000);
    desk.run({ kind: "expire", lease }, "owner");
    expect(desk.run({ kind: "renew", items: [{ lease, token, sendNumber: 1n }] }, "a")).toMatchObject({
      results: [{ kind: "revoked" }],
    });
  });

  it("ends at the holder's own release", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.run({ kind: "revoke", lease, expectedRevision: at(desk), token }, operator);
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.record(lease).lastEndReason).toBe("revoked");
    expect(desk.try("b", lease).kind).toBe("granted");
  });

  it("of one reader leaves the others alone", () => {
    const desk = new Desk();
    const shared = { claim: { mode: "shared" } } as const;
    const one = desk.take("a", lease, shared);
    const two = desk.take("b", lease, shared);
    desk.run({ kind: "revoke", lease, expectedRevision: at(desk), token: one.token }, operator);
    expect(desk.try("c", lease, shared).kind).toBe("granted");
    expect(desk.try("w", lease)).toMatchObject({ kind: "tombstone" });
    expect(desk.run({ kind: "renew", items: [{ lease, token: two.token, sendNumber: 1n }] }, "b")).toMatchObject({
      results: [{ kind: "renewed" }],
    });
  });

  it("compares the revision and needs a running term", () => {
    const desk = new Desk();
    expect(desk.run({ kind: "revoke", lease, expectedRevision: 1n, token: 0n }, operator).kind).toBe("leaseNotFound");
    const { token } = desk.take("a", lease);
    expect(desk.run({ kind: "revoke", lease, expectedRevision: 1n, token: 0n }, operator).kind).toBe(
      "revisionConflict",
    );
    expect(desk.run({ kind: "revoke", lease, expectedRevision: at(desk), token: token + 1n }, operator).kind).toBe(
      "notHolder",
    );
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.run({ kind: "revoke", lease, expectedRevision: at(desk), token: 0n }, operator).kind).toBe("notHolder");
  });

  it("with a successor is a transfer: when the lease is free, the named one comes first in the queue", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const wait = { timeoutMs: undefined, ageMs: 0, beatNumber: 0n };
    for (const [place, holder] of ["b", "c"].entries()) {
      const attempt = { clientId: holder, number: BigInt(place + 1), settledBelow: 0n };
      expect(desk.try(holder, lease, { wait, attempt }).kind).toBe("queued");
    }
    desk.run({ kind: "revoke", lease, expectedRevision: at(desk), token, successor: "c" }, operator);
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.record(lease).holds[0]?.holder).toBe("c");
    expect(desk.record(lease).preferredHolder).toBe("");
  });
});

describe("steal", () => {
  const steal = { kind: "steal", lease, claimant: { holder: "b" }, sendNumber: 4n } as const;

  it("takes a running term at once, with a higher token that fences the former holder", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const reply = desk.run({ ...steal, expectedRevision: at(desk) }, { principal: "b", reason: "a is stuck" });
    expect(reply).toMatchObject({ kind: "granted", grants: [{ lease, sendNumber: 4n }] });
    const record = desk.record(lease);
    expect(record.holds.map(({ holder, origin }) => [holder, origin])).toEqual([["b", "stolen"]]);
    expect(record.lastToken).toBeGreaterThan(token);
    expect(record.transitions).toBe(1);
    expect(record.history.slice(-2).map(({ cause }) => cause)).toEqual(["stolen", "stolen"]);
    const changes = [{ key: "k", value: new Uint8Array() }];
    expect(desk.run({ kind: "guard", lease, token, comparisons: [], changes }, "a").kind).toBe("fenced");
    expect(desk.run({ kind: "renew", items: [{ lease, token, sendNumber: 1n }] }, "a")).toMatchObject({
      results: [{ kind: "fenced" }],
    });
  });

  it("needs the revision, a running exclusive term, and a batch that has begun no other", () => {
    const desk = new Desk();
    expect(desk.run({ ...steal, expectedRevision: 1n }, "b").kind).toBe("leaseNotFound");
    const { token } = desk.take("a", lease);
    expect(desk.run({ ...steal, expectedRevision: 1n }, "b").kind).toBe("revisionConflict");
    const twice = { ...steal, expectedRevision: at(desk), principal: "b" };
    expect(desk.batch(twice, twice).map(({ kind }) => kind)).toEqual(["granted", "revisionConflict"]);
    desk.run({ kind: "release", items: [{ lease, token: desk.record(lease).lastToken }] }, "b");
    expect(desk.run({ ...steal, expectedRevision: at(desk) }, "b").kind).toBe("notHolder");
    expect(token).toBeLessThan(desk.record(lease).lastToken);
    desk.take("r", lease, { claim: { mode: "shared" } });
    expect(desk.run({ ...steal, expectedRevision: at(desk) }, "b").kind).toBe("exclusiveHoldRequired");
  });

  it("asks again in the next batch when its owner has just taken over", () => {
    const desk = new Desk();
    desk.take("a", lease);
    const takeOver = { kind: "takeOver", epoch: 2n, owner: "o", isHandedOver: true, principal: "o" } as const;
    const forced = { ...steal, expectedRevision: at(desk), principal: "b" };
    expect(desk.batch(takeOver, forced).map(({ kind }) => kind)).toEqual(["noted", "nextBatch"]);
    expect(desk.batch(forced, claimOf("c", lease)).map(({ kind }) => kind)).toEqual(["granted", "held"]);
  });
});
