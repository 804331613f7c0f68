import { describe, expect, it } from "vitest";
import type { CommandOf, WrittenHold } from "../partition/command.ts";
import { shownRevisionOf } from "../record/lease.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { register } from "../testing/candidates.ts";
import { Desk } from "../testing/desk.ts";

const lease = "kube-system/kube-scheduler";
const oldest = { kind: "oldestCompatibilityVersion", expression: "", vendor: "" } as const;

function hold(holder: string, more: Partial<WrittenHold> = {}): WrittenHold {
  const times = { acquiredAtMicros: 1n, renewedAtMicros: 2n };
  return {
    holder,
    holderKey: "",
    leaseDurationMs: 15_000,
    times,
    strategy: undefined,
    preferredHolder: undefined,
    ...more,
  };
}

function write(desk: Desk, principal: string, written: WrittenHold, more: Partial<CommandOf<"update">> = {}) {
  const record = desk.state.leases.get(lease);
  const expectedRevision = record?.created === undefined ? undefined : shownRevisionOf(record);
  const body = {
    kind: "update",
    lease,
    expectedRevision,
    expectedUid: undefined,
    spec: {},
    createIfAbsent: true,
    written,
  } as const;
  return desk.run({ ...body, ...more }, principal);
}

describe("leases that a client keeps itself", () => {
  it("are created with their holder, and [39] with the server's own token and transitions", () => {
    const desk = new Desk();
    expect(desk.run({ kind: "create", lease, spec: defaultLeaseSpec, written: hold("a") }, "a").kind).toBe("changed");
    expect(desk.record(lease).holds[0]).toMatchObject({
      holder: "a",
      origin: "written",
      details: { writtenTimes: { acquiredAtMicros: 1n, renewedAtMicros: 2n } },
    });
    expect(desk.record(lease).transitions).toBe(0);
    expect(desk.record(lease).lastToken).toBeGreaterThan(0n);
  });

  it("are renewed by the same holder, which keeps token and acquire time, and compared by the larger revision", () => {
    const desk = new Desk();
    write(desk, "a", hold("a"));
    const token = desk.record(lease).lastToken;
    const seen = shownRevisionOf(desk.record(lease));
    desk.advance(10_000);
    expect(write(desk, "a", hold("a", { leaseDurationMs: 20_000 })).kind).toBe("changed");
    const record = desk.record(lease);
    expect(record.holds[0]).toMatchObject({ token, leaseDurationMs: 20_000 });
    expect(shownRevisionOf(record)).toBe(desk.sequence);
    expect(write(desk, "a", hold("a"), { expectedRevision: seen }).kind).toBe("revisionConflict");
    desk.advance(19_999);
    expect(desk.try("b", lease).kind).toBe("held");
  });

  it("keep the longest duration that a holder has written in its term, because it may not know of a shorter one", () => {
    const desk = new Desk();
    write(desk, "a", hold("a", { leaseDurationMs: 20_000 }));
    expect(write(desk, "a", hold("a", { leaseDurationMs: 10_000 })).kind).toBe("changed");
    desk.advance(19_999);
    expect(desk.try("b", lease).kind).toBe("held");
    desk.advance(1);
    expect(desk.try("b", lease).kind).toBe("granted");
  });

  it("do not end a term that has a renew key, not even of the same principal (rule 15)", () => {
    const desk = new Desk();
    const { token } = desk.take("b", lease, { claimant: { holder: "one", renewKeyHash: "ff" } });
    expect(write(desk, "b", hold(""))).toEqual({ kind: "renewKeyMismatch", lease });
    expect(desk.record(lease).holds[0]).toMatchObject({ holder: "one", token });
  });

  it("[73] take no other holder while the owner's clock says valid, whatever revision the writer saw (rule 16)", () => {
    const desk = new Desk();
    write(desk, "a", hold("a"));
    desk.advance(14_999);
    expect(write(desk, "b", hold("b"))).toMatchObject({ kind: "held", holder: "a" });
    expect(write(desk, "b", hold("a")).kind).toBe("principalMismatch");
    expect(write(desk, "b", hold(""))).toMatchObject({ kind: "held", holder: "a" });
    desk.advance(1);
    expect(write(desk, "b", hold("b")).kind).toBe("changed");
    expect(desk.record(lease)).toMatchObject({ transitions: 1 });
    expect(desk.record(lease).holds.map(({ holder }) => holder)).toEqual(["b"]);
  });

  it("are released by writing an empty holder, and taken at once afterwards", () => {
    const desk = new Desk();
    write(desk, "a", hold("a"));
    expect(write(desk, "a", hold("", { leaseDurationMs: 1_000 })).kind).toBe("changed");
    expect(desk.record(lease)).toMatchObject({ holds: [], lastEndReason: "released", transitions: 0 });
    expect(write(desk, "b", hold("")).kind).toBe("changed");
    expect(write(desk, "b", hold("b")).kind).toBe("changed");
    expect(desk.record(lease).transitions).toBe(1);
  });

  it("[49] may name a preferred holder only with a strategy; an empty one is always fine", () => {
    const desk = new Desk();
    write(desk, "a", hold("a"));
    expect(write(desk, "a", hold("a", { preferredHolder: "b" }))).toMatchObject({
      kind: "invalid",
      violations: [{ field: "written_hold.preferred_holder" }],
    });
    expect(write(desk, "a", hold("a", { preferredHolder: "" })).kind).toBe("changed");
    expect(write(desk, "a", hold("a", { strategy: oldest, preferredHolder: "b" })).kind).toBe("changed");
    expect(desk.record(lease)).toMatchObject({
      preferredHolder: "b",
      strategy: { strategy: oldest, source: "written" },
    });
    expect(desk.record(lease).endOfTerm).toMatchObject({ token: desk.record(lease).lastToken });
    expect(write(desk, "a", hold("a", { preferredHolder: "" })).kind).toBe("changed");
    expect(desk.record(lease)).toMatchObject({ preferredHolder: "", endOfTerm: undefined });
    const vendor = { kind: "vendor", expression: "", vendor: "x" } as const;
    expect(write(desk, "a", hold("a", { strategy: vendor })).kind).toBe("invalid");
  });

  it("[50] have what they say of strategy and successor dropped where coordination is off, unless it was stored", () => {
    const off = { strategy: { kind: "noCoordination", expression: "", vendor: "" }, source: "operator" } as const;
    const turnOff = (desk: Desk, expectedRevision: bigint) =>
      desk.run({ kind: "putStrategy", lease, expectedRevision, strategy: off, conflict: undefined }, "op");
    const fresh = new Desk();
    turnOff(fresh, 0n);
    expect(write(fresh, "a", hold("a", { strategy: oldest, preferredHolder: "b" })).kind).toBe("changed");
    expect(fresh.record(lease)).toMatchObject({ preferredHolder: "", strategy: off });
    expect(fresh.record(lease).endOfTerm).toBeUndefined();
    const stored = new Desk();
    write(stored, "a", hold("a", { strategy: oldest, preferredHolder: "b" }));
    turnOff(stored, stored.record(lease).revision.sequence);
    expect(write(stored, "a", hold("a", { preferredHolder: "c" })).kind).toBe("changed");
    expect(stored.record(lease)).toMatchObject({ preferredHolder: "c", strategy: off });
  });

  it("written in one step with a new holder, a preferred holder belongs to the new term", () => {
    const desk = new Desk();
    write(desk, "a", hold("a", { strategy: oldest, preferredHolder: "c" }));
    expect(desk.record(lease).endOfTerm).toMatchObject({ token: desk.record(lease).lastToken, preferredHolder: "c" });
    desk.advance(15_000);
    write(desk, "b", hold("b", { preferredHolder: "c" }));
    expect(desk.record(lease).endOfTerm).toMatchObject({ token: desk.record(lease).lastToken, preferredHolder: "c" });
  });

  it("[17] refuse a duration of 0 and one outside the deployment's bounds", () => {
    const desk = new Desk();
    expect(write(desk, "a", hold("a", { leaseDurationMs: 0 })).kind).toBe("invalid");
    expect(write(desk, "a", hold("a", { leaseDurationMs: 1_000 })).kind).toBe("timingUnsafe");
    expect(write(desk, "a", hold("a", { leaseDurationMs: undefined })).kind).toBe("changed");
    expect(write(desk, "a", hold("a", { leaseDurationMs: 0 })).kind).toBe("invalid");
    expect(write(desk, "a", hold("a", { leaseDurationMs: 400_000 })).kind).toBe("timingUnsafe");
  });

  it("[20] are free when created without a holder, and edited together with their labels", () => {
    const desk = new Desk();
    const spec = { ...defaultLeaseSpec, labels: { a: "1" } };
    expect(desk.run({ kind: "create", lease, spec, written: hold("", { strategy: oldest }) }, "a").kind).toBe(
      "changed",
    );
    expect(desk.record(lease)).toMatchObject({ holds: [], strategy: { source: "written" } });
    expect(write(desk, "a", hold("a"), { spec: { labels: { a: "2" } } }).kind).toBe("changed");
    expect(desk.record(lease).spec.labels).toEqual({ a: "2" });
    expect(desk.record(lease).holds).toHaveLength(1);
  });

  it("[84] wait for the coordinator like any plain claim while candidates live", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    expect(write(desk, "b", hold("b")).kind).toBe("coordinated");
  });
});
