import { describe, expect, it } from "vitest";
import { executePackedRenewal } from "../execute.ts";
import { newExpiryGuard, noteAppendAcked, noteConnectionLost } from "../expiry-guard.ts";
import { openBatch } from "../partition/batch.ts";
import { renewalRevisionOf, shownRevisionOf } from "../record/lease.ts";
import { takeSnapshot } from "../snapshot/take.ts";
import { claimOf, Desk } from "../testing/desk.ts";
import { untilDueMs } from "./expire.ts";

const lease = "billing/scheduler";

function renew(desk: Desk, who: string, token: bigint, sendNumber = 2n, leaseDurationMs?: number) {
  const item = { lease, token, sendNumber, ...(leaseDurationMs === undefined ? undefined : { leaseDurationMs }) };
  const reply = desk.run({ kind: "renew", items: [item] }, who);
  return reply.kind === "renewals" ? reply.results[0] : reply;
}

describe("renew", () => {
  it("[2] is the holder's alone: by token and by principal, and changes nothing otherwise", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const before = takeSnapshot(desk.state);
    expect(renew(desk, "b", token)).toEqual({ kind: "principalMismatch", lease });
    expect(renew(desk, "b", token + 1n)).toEqual({ kind: "notHolder", lease, token: token + 1n });
    expect(renew(desk, "b", token - 1n)).toEqual({ kind: "fenced", lease, holder: "a", token });
    expect(takeSnapshot(desk.state).leases).toEqual(before.leases);
    expect(desk.run({ kind: "renew", items: [{ lease: "x/y", token, sendNumber: 1n }] }, "a")).toMatchObject({
      results: [{ kind: "leaseNotFound", lease: "x/y" }],
    });
  });

  it("[3] changes only the renewal's own time and revision", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const record = desk.record(lease);
    const { revision, transitions } = record;
    const granted = record.holds[0]?.granted;
    expect(renewalRevisionOf(record)).toBe(0n);
    desk.advance(2_000);
    expect(renew(desk, "a", token, 7n)).toEqual({ kind: "renewed", sendNumber: 7n, isEnding: false, successor: "" });
    expect(record.revision).toBe(revision);
    expect(record.transitions).toBe(transitions);
    expect(record.holds[0]?.granted).toBe(granted);
    expect(record.holds[0]?.renewal.wallMs).toBe(desk.wallMs);
    expect(renewalRevisionOf(record)).toBe(desk.sequence);
    expect(shownRevisionOf(record)).toBe(desk.sequence);
  });

  it("keeps the term for another L", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    for (let round = 0; round < 5; round++) {
      desk.advance(14_000);
      expect(renew(desk, "a", token)?.kind).toBe("renewed");
    }
    desk.advance(14_999);
    expect(desk.try("b", lease).kind).toBe("held");
  });

  it("is taken from a holder that is overdue as long as the log has not ended its term", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.advance(20_000);
    expect(renew(desk, "a", token)?.kind).toBe("renewed");
    expect(desk.try("b", lease).kind).toBe("held");
    desk.advance(15_000);
    desk.run({ kind: "expire", lease }, "owner");
    expect(renew(desk, "a", token)).toEqual({ kind: "termExpired", lease, token });
  });

  it("needs the secret whose hash the claim gave (I19)", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease, { claimant: { holder: "a", renewKeyHash: "ff" } });
    const items = [{ lease, token, sendNumber: 1n }];
    expect(renew(desk, "a", token)).toEqual({ kind: "renewKeyMismatch", lease });
    expect(desk.run({ kind: "renew", items, renewKeyHash: "ff" }, "a")).toMatchObject({
      results: [{ kind: "renewed" }],
    });
    expect(desk.run({ kind: "release", items }, "a")).toEqual({ kind: "renewKeyMismatch", lease });
    expect(desk.run({ kind: "release", items, renewKeyHash: "ff" }, "a")).toMatchObject({ released: [true] });
  });

  it("is the only way to change L of a running term (rule 16), within the deployment's bounds", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    expect(renew(desk, "a", token, 2n, 1_000)).toMatchObject({ kind: "timingUnsafe" });
    expect(renew(desk, "a", token, 3n, 30_000)).toMatchObject({ kind: "renewed", sendNumber: 3n });
    expect(renewalRevisionOf(desk.record(lease))).toBe(desk.sequence);
    desk.advance(29_999);
    expect(desk.try("b", lease).kind).toBe("held");
    desk.advance(1);
    expect(desk.try("b", lease).kind).toBe("granted");
    expect(desk.record(lease).holds[0]?.leaseDurationMs).toBe(15_000);
  });

  it("never shortens L of a running term: a holder that misses the answer goes on by the longer one (I1)", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    expect(renew(desk, "a", token, 2n, 30_000)).toMatchObject({ kind: "renewed" });
    expect(renew(desk, "a", token, 3n, 15_000)).toMatchObject({
      kind: "timingUnsafe",
      violations: [{ fields: { lease_duration: 15_000 } }],
    });
    expect(renew(desk, "a", token, 4n, 30_000)).toMatchObject({ kind: "renewed" });
    desk.advance(29_999);
    expect(desk.try("b", lease).kind).toBe("held");
  });

  it("[34] undoes a plain deletion: the lease is back with its token, acquire time and transitions", () => {
    const desk = new Desk();
    const { token: first } = desk.take("z", lease);
    desk.run({ kind: "release", items: [{ lease, token: first }] }, "z");
    const { token } = desk.take("a", lease);
    const hold = desk.record(lease).holds[0];
    const granted = hold?.granted;
    const { created, uid } = desk.record(lease);
    desk.advance(3_000);
    desk.run({ kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined }, "op");
    expect(desk.try("b", lease)).toEqual({ kind: "tombstone", lease, token, retryAfterMs: 12_000 });
    expect(renew(desk, "a", token)?.kind).toBe("renewed");
    const record = desk.record(lease);
    expect(record).toMatchObject({ deletion: undefined, transitions: 1, uid });
    expect(record.created).toBe(created);
    expect(record.holds[0]?.granted).toBe(granted);
    expect(record.holds[0]?.token).toBe(token);
    expect(record.history.map(({ kind }) => kind).slice(-3)).toEqual(["granted", "deleted", "restored"]);
  });
});

describe("packed renewals", () => {
  it("renew many terms with one event, and say which were refused", () => {
    const desk = new Desk();
    const mine = [1, 2, 3].map((n) => desk.take("a", `billing/lease-${n}`).holdId);
    const other = desk.take("b", "billing/other").holdId;
    desk.advance(1_000);
    const result = desk.renewPacked("a", [...mine, other, 999_999_999], 5n);
    expect(result.renewed).toEqual(mine);
    expect(result.refused.map(({ holdId, refusal }) => [holdId, refusal.kind])).toEqual([
      [other, "principalMismatch"],
      [999_999_999, "termExpired"],
    ]);
    expect(result.events).toEqual([{ kind: "renewed", holdIds: mine, sendNumber: 5n, author: "a", reason: "" }]);
    expect(renewalRevisionOf(desk.record("billing/lease-2"))).toBe(desk.sequence);
    expect(takeSnapshot(desk.follower)).toEqual(takeSnapshot(desk.state));
  });

  it("undo deletions, report ends of term and refuse what is revoked or drained", () => {
    const desk = new Desk();
    const grants = ["deleted", "ending", "revoked", "drained"].map((name) => desk.take("a", `billing/${name}`));
    const [deleted, ending, revoked, drained] = grants;
    const at = (name: string) => ({
      lease: `billing/${name}`,
      expectedRevision: desk.record(`billing/${name}`).revision.sequence,
    });
    desk.run({ kind: "delete", ...at("deleted"), expectedUid: undefined }, "op");
    desk.run({ kind: "markEndOfTerm", ...at("ending"), token: ending?.token ?? 0n, preferredHolder: "b" }, "op");
    desk.run({ kind: "revoke", ...at("revoked"), token: 0n }, { principal: "op", reason: "misbehaves" });
    const mark = { token: drained?.token ?? 0n, preferredHolder: "c", drainBoundMs: 1_000 };
    desk.run({ kind: "markEndOfTerm", ...at("drained"), ...mark }, "op");
    desk.advance(1_000);
    const result = desk.renewPacked(
      "a",
      grants.map(({ holdId }) => holdId),
    );
    expect(result.renewed).toEqual([deleted?.holdId, ending?.holdId]);
    expect(result.ending).toEqual([{ holdId: ending?.holdId, successor: "b" }]);
    expect(result.refused.map(({ refusal }) => refusal)).toEqual([
      { kind: "revoked", lease: "billing/revoked", token: revoked?.token, reason: "misbehaves" },
      { kind: "endOfTerm", lease: "billing/drained", token: drained?.token, successor: "c" },
    ]);
    expect(desk.record("billing/deleted").deletion).toBeUndefined();
  });

  it("mention a term once per batch, also when all of it is packed", () => {
    const desk = new Desk();
    const [first = 0, second = 0, third = 0] = [1, 2, 3].map((n) => desk.take("a", `billing/lease-${n}`).holdId);
    const renew = (...holdIds: number[]) =>
      executePackedRenewal(desk.owned, { principal: "a", holdIds, sendNumber: 7n }, desk.now);
    openBatch(desk.owned, desk.now, 0);
    const results = [renew(first, second), renew(second, third), renew(third, first)];
    expect(results.map(({ renewed }) => renewed)).toEqual([
      [first, second],
      [second, third],
      [third, first],
    ]);
    const named = results.map(({ events }) => events.map((event) => event.kind === "renewed" && event.holdIds));
    expect(named).toEqual([[[first, second]], [[third]], []]);
  });

  it("mention a term once per batch, so that their place among the events does not matter", () => {
    const desk = new Desk();
    const old = desk.take("a", "billing/old");
    const item = { lease: "billing/old", token: old.token, sendNumber: 3n };
    const renewal = { kind: "renew", items: [item], principal: "a" } as const;
    const claim = claimOf("a", lease);
    const fresh = { lease, token: desk.sequence + 1n, sendNumber: 1n };
    const replies = desk.batch(renewal, claim, renewal, { kind: "renew", items: [fresh], principal: "a" });
    expect(replies.map(({ kind }) => kind)).toEqual(["renewals", "granted", "renewals", "renewals"]);
    expect(replies.every((reply) => reply.kind !== "renewals" || reply.results[0]?.kind === "renewed")).toBe(true);
    const events = desk.owned.batch.events.filter(({ kind }) => kind === "renewed");
    expect(events).toHaveLength(1);
  });
});

describe("expire (rule 17)", () => {
  it("ends a term L after its last renewal reached the owner, not before, with the reason", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.advance(10_000);
    renew(desk, "a", token);
    expect(untilDueMs(desk.record(lease), desk.now)).toBe(15_000);
    desk.advance(14_999);
    expect(desk.run({ kind: "expire", lease }, "owner")).toEqual({
      kind: "notDue",
      lease,
      retryAfterMs: 1,
      needsProbe: false,
    });
    desk.advance(1);
    expect(desk.run({ kind: "expire", lease }, "owner").kind).toBe("changed");
    expect(desk.record(lease).history.at(-1)).toMatchObject({
      kind: "ended",
      cause: "expired",
      holder: "a",
      token,
      author: "",
      details: { heldForMs: 25_000 },
    });
    expect(desk.run({ kind: "expire", lease: "x/y" }, "owner").kind).toBe("leaseNotFound");
    expect(untilDueMs(desk.record(lease), desk.now)).toBeUndefined();
  });

  it("spares what was renewed since the asker looked: both revisions are compared (rule 6)", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const expectedRevision = desk.record(lease).revision.sequence;
    desk.advance(1_000);
    renew(desk, "a", token);
    desk.advance(15_000);
    const stale = { kind: "expire", lease, expectedRevision, expectedRenewalRevision: 0n } as const;
    expect(desk.run(stale, "collector").kind).toBe("revisionConflict");
    expect(desk.run({ ...stale, expectedRevision: 1n }, "collector").kind).toBe("revisionConflict");
    const expectedRenewalRevision = renewalRevisionOf(desk.record(lease));
    const item = { lease, token, sendNumber: 9n };
    const renewal = { kind: "renew", items: [item], principal: "a" } as const;
    const fresh = { ...stale, expectedRenewalRevision, principal: "collector" };
    expect(desk.batch(renewal, fresh).map(({ kind }) => kind)).toEqual(["renewals", "revisionConflict"]);
  });

  it("needs an append that was acknowledged within the last second", () => {
    const desk = new Desk();
    desk.take("a", lease);
    desk.now += 16_000;
    expect(desk.run({ kind: "expire", lease }, "owner")).toEqual({
      kind: "notDue",
      lease,
      retryAfterMs: 0,
      needsProbe: true,
    });
    desk.now += 2_000;
    expect(desk.try("b", lease).kind).toBe("nextBatch");
    expect(desk.try("b", lease).kind).toBe("granted");
  });

  it("expires nobody for R + T + 1 s after an outage of the store", () => {
    const desk = new Desk();
    desk.take("a", lease);
    desk.now += 20_000;
    const { timing } = desk.state.settings;
    desk.owned.guard = noteAppendAcked(noteConnectionLost(desk.owned.guard, 0), desk.now, desk.now, timing);
    expect(desk.run({ kind: "expire", lease }, "owner")).toEqual({
      kind: "notDue",
      lease,
      retryAfterMs: 5_000,
      needsProbe: false,
    });
    expect(desk.try("b", lease)).toMatchObject({ kind: "held", retryAfterMs: 5_000 });
    desk.advance(5_000);
    expect(desk.try("b", lease).kind).toBe("granted");
  });

  it("counts from the new owner's own sight after a takeover (I8)", () => {
    const desk = new Desk();
    desk.take("a", lease);
    desk.advance(10_000);
    desk.failOver();
    desk.owned.guard = noteAppendAcked(newExpiryGuard(), desk.now, desk.now, desk.state.settings.timing);
    // The follower saw the grant 5 ms later than the first owner did.
    desk.now += 4_999;
    expect(desk.owned.state.holds.size).toBe(1);
    expect(untilDueMs(desk.record(lease), desk.now)).toBe(1);
  });
});
