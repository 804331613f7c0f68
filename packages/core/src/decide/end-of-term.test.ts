import { describe, expect, it } from "vitest";
import { leaseStateOf } from "../lease-state.ts";
import type { CommandOf } from "../partition/command.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { register } from "../testing/candidates.ts";
import { Desk } from "../testing/desk.ts";

const lease = "billing/scheduler";

function mark(desk: Desk, more: Partial<CommandOf<"markEndOfTerm">> = {}) {
  const { lastToken: token, revision } = desk.record(lease);
  const expectedRevision = revision.sequence;
  return desk.run(
    { kind: "markEndOfTerm", lease, expectedRevision, token, preferredHolder: "b", ...more },
    "coordinator",
  );
}

function renew(desk: Desk, token: bigint) {
  const reply = desk.run({ kind: "renew", items: [{ lease, token, sendNumber: 2n }] }, "a");
  return reply.kind === "renewals" ? reply.results[0] : reply;
}

describe("end of term (rule 20)", () => {
  it("[69] names the better candidate; holder and renewal stay as they are", () => {
    const desk = new Desk();
    desk.take("a", lease);
    const { granted, renewal } = desk.record(lease).holds[0] ?? {};
    desk.advance(100);
    expect(mark(desk).kind).toBe("changed");
    const record = desk.record(lease);
    expect(record).toMatchObject({ preferredHolder: "b", endOfTerm: { preferredHolder: "b", drainBoundMs: 30_000 } });
    expect(record.holds[0]).toMatchObject({ holder: "a" });
    expect([record.holds[0]?.granted, record.holds[0]?.renewal]).toEqual([granted, renewal]);
    expect(leaseStateOf(record, desk.now)).toBe("ending");
    expect(record.history.at(-1)).toMatchObject({ kind: "endOfTermMarked", holder: "a", details: { successor: "b" } });
  });

  it("[70] goes on accepting renewals for the drain bound, then refuses them and the term runs out", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    mark(desk);
    for (let elapsedMs = 0; elapsedMs < 30_000; elapsedMs += 10_000) {
      expect(renew(desk, token)).toEqual({ kind: "renewed", sendNumber: 2n, isEnding: true, successor: "b" });
      desk.advance(10_000);
    }
    expect(renew(desk, token)).toEqual({ kind: "endOfTerm", lease, token, successor: "b" });
    expect(desk.try("b", lease)).toMatchObject({ kind: "held", retryAfterMs: 5_000 });
    desk.advance(5_000);
    desk.take("b", lease);
    expect(desk.record(lease).history.map(({ cause }) => cause)).toContain("ended");
  });

  it("[74] cleared, it restores renewal, and the mark alone has changed no deadline (I10)", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    mark(desk, { drainBoundMs: 0 });
    expect(renew(desk, token)?.kind).toBe("endOfTerm");
    const expectedRevision = desk.record(lease).revision.sequence;
    expect(desk.run({ kind: "clearEndOfTerm", lease, expectedRevision: 1n }, "co").kind).toBe("revisionConflict");
    expect(desk.run({ kind: "clearEndOfTerm", lease, expectedRevision }, "co").kind).toBe("changed");
    expect(desk.record(lease)).toMatchObject({ preferredHolder: "", endOfTerm: undefined });
    desk.advance(14_999);
    expect(desk.try("b", lease)).toMatchObject({ kind: "held", retryAfterMs: 1 });
    expect(renew(desk, token)?.kind).toBe("renewed");
    const again = desk.record(lease).revision.sequence;
    expect(desk.run({ kind: "clearEndOfTerm", lease, expectedRevision: again }, "co")).toMatchObject({
      position: undefined,
    });
    expect(desk.run({ kind: "clearEndOfTerm", lease: "x/y", expectedRevision: 0n }, "co").kind).toBe("leaseNotFound");
  });

  it("marked twice, gives the holder no more time, but may name another successor", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    mark(desk, { drainBoundMs: 10_000 });
    desk.advance(9_000);
    mark(desk, { drainBoundMs: 10_000, preferredHolder: "c" });
    desk.advance(1_000);
    expect(renew(desk, token)).toMatchObject({ kind: "endOfTerm", successor: "c" });
  });

  it("is refused for another token, revision or mode, for the holder itself and for no lease", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    expect(mark(desk, { token: token - 1n }).kind).toBe("fenced");
    expect(mark(desk, { token: token + 1n }).kind).toBe("notHolder");
    expect(mark(desk, { expectedRevision: 1n }).kind).toBe("revisionConflict");
    expect(mark(desk, { preferredHolder: "a" }).kind).toBe("invalid");
    expect(mark(desk, { lease: "x/y" }).kind).toBe("leaseNotFound");
    const shared = "billing/shared";
    const grant = desk.take("a", shared, { claim: { mode: "shared" } });
    const expectedRevision = desk.record(shared).revision.sequence;
    expect(mark(desk, { lease: shared, token: grant.token, expectedRevision }).kind).toBe("exclusiveHoldRequired");
  });

  it("by a coordinator respects the minimum term; by an operator it does not", () => {
    const desk = new Desk();
    desk.take("a", lease, { claim: { spec: { ...defaultLeaseSpec, minimumTermMs: 8_000 } } });
    const decision = { id: "d", body: new Uint8Array() };
    desk.advance(1_000);
    expect(mark(desk, { decision })).toEqual({ kind: "tooYoung", lease, retryAfterMs: 7_000 });
    expect(mark(desk).kind).toBe("changed");
    desk.advance(7_000);
    expect(mark(desk, { decision }).kind).toBe("changed");
    expect(desk.record(lease).decisions).toMatchObject([{ id: "d" }]);
  });

  it("[107] keeps the one that lost its term from being elected for the cool-down", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    desk.run({ kind: "elect", lease, expectedRevision: 0n, candidate: "a", coordinator: "co" }, "co");
    const token = desk.record(lease).lastToken;
    desk.run({ kind: "accept", lease, candidate: "a", token, claimant: { holder: "a" }, sendNumber: 1n }, "a");
    mark(desk, { coolDownMs: 20_000, decision: { id: "d", body: new Uint8Array() } });
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.record(lease).candidates?.get("a")?.coolDown).toMatchObject({ coolDownMs: 20_000 });
    const elect = { kind: "elect", lease, candidate: "a", coordinator: "co" } as const;
    const expectedRevision = desk.record(lease).revision.sequence;
    expect(desk.run({ ...elect, expectedRevision }, "co")).toMatchObject({ why: "coolDown" });
    desk.advance(20_000);
    expect(desk.run({ ...elect, expectedRevision }, "co").kind).toBe("changed");
  });

  it("[107] keeps one that stepped down from being elected for the cool-down, too", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    desk.run({ kind: "elect", lease, expectedRevision: 0n, candidate: "a", coordinator: "co" }, "co");
    const token = desk.record(lease).lastToken;
    desk.run({ kind: "accept", lease, candidate: "a", token, claimant: { holder: "a" }, sendNumber: 1n }, "a");
    mark(desk, { coolDownMs: 20_000 });
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.record(lease).lastEndReason).toBe("steppedDown");
    expect(desk.record(lease).candidates?.get("a")?.coolDown).toMatchObject({ coolDownMs: 20_000 });
  });
});
