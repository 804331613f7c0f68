import { describe, expect, it } from "vitest";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { takeSnapshot } from "../snapshot/take.ts";
import { Desk } from "../testing/desk.ts";

const lease = "billing/scheduler";
const edit = { kind: "update", lease, expectedUid: undefined, createIfAbsent: false } as const;
const remove = { kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined } as const;

describe("create and update", () => {
  it("[14] refuses a stale revision with a conflict and an existing lease without one as invalid; nothing changes", () => {
    const desk = new Desk();
    desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op");
    const seen = desk.record(lease).revision.sequence;
    expect(desk.run({ ...edit, expectedRevision: seen, spec: { labels: { a: "1" } } }, "op").kind).toBe("changed");
    const now = desk.record(lease).revision.sequence;
    expect(desk.run({ ...edit, expectedRevision: seen, spec: { labels: { a: "2" } } }, "op")).toEqual({
      kind: "revisionConflict",
      lease,
      expected: seen,
      revision: now,
    });
    expect(desk.run({ ...edit, expectedRevision: undefined, spec: { labels: {} } }, "op")).toMatchObject({
      kind: "invalid",
      violations: [{ field: "expected_revision" }],
    });
    expect(desk.record(lease).spec.labels).toEqual({ a: "1" });
    expect(desk.record(lease).revision.sequence).toBe(now);
  });

  it("[14] a change in the same batch conflicts with every expectation", () => {
    const desk = new Desk();
    desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op");
    const expectedRevision = desk.record(lease).revision.sequence;
    const change = (a: string) => ({ ...edit, expectedRevision, spec: { labels: { a } }, principal: "op" });
    const [first, second] = desk.batch(change("1"), change("2"));
    expect(first?.kind).toBe("changed");
    expect(second).toEqual({ kind: "revisionConflict", lease, expected: expectedRevision, revision: desk.sequence });
    expect(desk.record(lease).spec.labels).toEqual({ a: "1" });
  });

  it("[15] refuses to create an existing name", () => {
    const desk = new Desk();
    desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op");
    expect(desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op")).toMatchObject({
      kind: "alreadyExists",
      lease,
    });
  });

  it("[16] creates a missing name on update without a uid, and conflicts with one", () => {
    const desk = new Desk();
    const upsert = { ...edit, expectedRevision: undefined, createIfAbsent: true, spec: { labels: { a: "1" } } };
    expect(desk.run({ ...upsert, expectedUid: 7 }, "op")).toEqual({ kind: "uidConflict", lease });
    expect(desk.run({ ...upsert, expectedRevision: 5n }, "op")).toMatchObject({
      kind: "revisionConflict",
      revision: 0n,
    });
    expect(desk.run({ ...upsert, createIfAbsent: false }, "op")).toEqual({ kind: "leaseNotFound", lease });
    expect(desk.run(upsert, "op").kind).toBe("changed");
    expect(desk.record(lease).spec.labels).toEqual({ a: "1" });
    const { revision, uid } = desk.record(lease);
    const again = { ...edit, expectedRevision: revision.sequence, spec: { labels: {} } };
    expect(desk.run({ ...again, expectedUid: uid + 1 }, "op")).toEqual({ kind: "uidConflict", lease });
    expect(desk.run({ ...again, expectedUid: uid }, "op").kind).toBe("changed");
  });

  it.each([
    [{ leaseDurationMs: 0 }, "spec.lease_duration"],
    [{ leaseDurationMs: -1 }, "spec.lease_duration"],
    [{ leaseDurationMs: 1_500.5 }, "spec.lease_duration"],
    [{ lockDelayMs: -1 }, "spec.lock_delay"],
    [{ capacity: 2 }, "spec.capacity"],
    [{ mode: "counted", capacity: 0 }, "spec.capacity"],
    [{ labels: { "": "x" } }, "spec.labels"],
    [{ labels: { key: "v".repeat(126) } }, "spec.labels"],
    [{ labels: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`k${n}`, "v"])) }, "spec.labels"],
    [{ annotations: { text: "x".repeat(4_093) } }, "spec.annotations"],
    [{ zonePreference: Array.from({ length: 17 }, () => "z") }, "spec.zone_preference"],
    [{ fallbackDelayMs: -5 }, "spec.fallback_delay"],
  ] as const)("[17] refuses %j at %s, on create and on update", (broken, field) => {
    const desk = new Desk();
    const spec = { ...defaultLeaseSpec, ...broken };
    expect(desk.run({ kind: "create", lease, spec }, "op")).toMatchObject({ kind: "invalid", violations: [{ field }] });
    desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op");
    const expectedRevision = desk.record(lease).revision.sequence;
    expect(desk.run({ ...edit, expectedRevision, spec: broken }, "op")).toMatchObject({
      kind: "invalid",
      violations: [{ field }],
    });
  });

  it("[39] has no place for a client's token or transitions: neither changes with an edit", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const expectedRevision = desk.record(lease).revision.sequence;
    const spec = { ...defaultLeaseSpec, labels: { x: "y" }, token: 1n, transitions: 0, lastToken: 0n };
    desk.run({ ...edit, expectedRevision, spec }, "op");
    expect(desk.record(lease)).toMatchObject({ lastToken: token, transitions: 0 });
    expect(desk.record(lease).holds[0]?.token).toBe(token);
  });

  it("an edit applies to the next term and not to the running one (rule 16)", () => {
    const desk = new Desk();
    desk.take("a", lease);
    const expectedRevision = desk.record(lease).revision.sequence;
    desk.run({ ...edit, expectedRevision, spec: { leaseDurationMs: 5_000 } }, "op");
    desk.advance(14_999);
    expect(desk.try("b", lease).kind).toBe("held");
    desk.advance(1);
    desk.take("b", lease);
    expect(desk.record(lease).holds[0]?.leaseDurationMs).toBe(5_000);
  });

  it("the mode cannot become counted while the lease is held", () => {
    const desk = new Desk();
    desk.take("a", lease);
    const expectedRevision = desk.record(lease).revision.sequence;
    const reply = desk.run({ ...edit, expectedRevision, spec: { mode: "counted", capacity: 2 } }, "op");
    expect(reply).toMatchObject({ kind: "immutable", field: "spec.mode" });
  });

  it("an update that changes nothing writes nothing", () => {
    const desk = new Desk();
    desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op");
    const before = takeSnapshot(desk.state).leases;
    const expectedRevision = desk.record(lease).revision.sequence;
    expect(desk.run({ ...edit, expectedRevision, spec: {} }, "op")).toEqual({
      kind: "changed",
      lease,
      position: undefined,
    });
    expect(takeSnapshot(desk.state).leases).toEqual(before);
  });

  it("the leases of a namespace are limited by name, also after deletions", () => {
    const desk = new Desk();
    const { settings } = desk.state;
    desk.run(
      { kind: "changeSettings", settings: { ...settings, limits: { ...settings.limits, leasesPerNamespace: 1 } } },
      "o",
    );
    desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op");
    const other = { kind: "create", lease: "billing/other", spec: defaultLeaseSpec } as const;
    expect(desk.run(other, "op")).toEqual({ kind: "limitExceeded", limit: "leasesPerNamespace", value: 1 });
    desk.run(remove, "op");
    expect(desk.run(other, "op").kind).toBe("changed");
  });
});

describe("delete (rule 15)", () => {
  it("of a free lease removes it at once and keeps its last token and history", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.run(remove, { principal: "op", reason: "tidy" })).toMatchObject({
      kind: "deleted",
      isLingering: false,
    });
    expect(desk.record(lease)).toMatchObject({ created: undefined, uid: 0, lastToken: token });
    expect(desk.record(lease).history.at(-1)).toMatchObject({
      kind: "deleted",
      author: "op",
      details: { reason: "tidy" },
    });
    expect(desk.run(remove, "op")).toEqual({ kind: "leaseNotFound", lease });
    expect(desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op").kind).toBe("changed");
    expect(desk.record(lease)).toMatchObject({ transitions: 0, lastToken: token });
  });

  it("of a held lease frees nothing before L after the last renewal, and then the name is free", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    expect(desk.run(remove, "op")).toMatchObject({ kind: "deleted", isLingering: true });
    expect(desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op")).toEqual({
      kind: "tombstone",
      lease,
      token,
      retryAfterMs: 15_000,
    });
    desk.advance(14_999);
    expect(desk.try("b", lease)).toMatchObject({ kind: "tombstone", retryAfterMs: 1 });
    desk.advance(1);
    const grant = desk.take("b", lease);
    expect(grant.token).toBeGreaterThan(token);
    expect(desk.record(lease).transitions).toBe(0);
    expect(desk.record(lease).history.map(({ kind, cause }) => cause ?? kind)).toEqual([
      "created",
      "acquired",
      "deleted",
      "deleted",
      "created",
      "acquired",
    ]);
  });

  it("of a shared lease lets no further reader in, and one reader's renewal undoes it for all", () => {
    const desk = new Desk();
    const shared = { claim: { mode: "shared" } } as const;
    const grants = ["a", "b"].map((reader) => desk.take(reader, lease, shared));
    desk.run(remove, "op");
    expect(desk.try("c", lease, shared).kind).toBe("tombstone");
    const renewals = grants.map(({ token }, index) => {
      const principal = index === 0 ? "a" : "b";
      return { kind: "renew", items: [{ lease, token, sendNumber: 2n }], principal } as const;
    });
    desk.batch(...renewals);
    expect(desk.record(lease).history.filter(({ kind }) => kind === "restored")).toHaveLength(1);
    expect(desk.try("c", lease, shared).kind).toBe("granted");
  });

  it("[77] of a held lease becomes free at once when its holder releases", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.run(remove, "op");
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.record(lease).created).toBeUndefined();
    expect(desk.try("b", lease).kind).toBe("granted");
  });

  it("a created name whose deleted term ran out ends that term first", () => {
    const desk = new Desk();
    desk.take("a", lease);
    desk.run(remove, "op");
    desk.advance(15_000);
    expect(desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op").kind).toBe("changed");
    expect(desk.record(lease).holds).toEqual([]);
    expect(desk.state.holds.size).toBe(0);
    expect(takeSnapshot(desk.follower)).toEqual(takeSnapshot(desk.state));
  });

  it("compares revision and uid if they are given", () => {
    const desk = new Desk();
    desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op");
    const { revision, uid } = desk.record(lease);
    expect(desk.run({ ...remove, expectedRevision: 3n }, "op").kind).toBe("revisionConflict");
    expect(desk.run({ ...remove, expectedUid: uid + 1 }, "op").kind).toBe("uidConflict");
    expect(desk.run({ ...remove, expectedRevision: revision.sequence, expectedUid: uid }, "op").kind).toBe("deleted");
  });

  it("takes guarded values with it once no term can write them", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const changes = [{ key: "k", value: new Uint8Array([1]) }];
    desk.run({ kind: "guard", lease, token, comparisons: [], changes }, "a");
    desk.run(remove, "op");
    expect(desk.record(lease).guarded?.size).toBe(1);
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.record(lease).guarded).toBeUndefined();
  });
});

describe("collect (rules 6 and 23)", () => {
  const collect = { kind: "collectLease", lease, graceMs: 1_000, isDependent: false } as const;
  const seen = (desk: Desk) => ({
    expectedRevision: desk.record(lease).revision.sequence,
    expectedRenewalRevision: 0n,
  });

  it("deletes what is dead by the owner's clock for long enough, and spares the rest", () => {
    const desk = new Desk();
    desk.take("a", lease);
    const at = seen(desk);
    desk.advance(15_999);
    expect(desk.run({ ...collect, ...at }, "gc")).toMatchObject({ kind: "collected", isCollected: false });
    desk.advance(1);
    expect(desk.run({ ...collect, ...at, expectedRevision: 1n }, "gc")).toMatchObject({ isCollected: false });
    expect(desk.run({ ...collect, ...at }, "gc")).toMatchObject({ isCollected: true });
    expect(desk.run({ ...collect, ...at }, "gc")).toMatchObject({ isCollected: false });
  });

  it("leaves a dependent's running term to run out, and its holder may not renew it", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    expect(
      desk.run({ ...collect, ...seen(desk), isDependent: true }, { principal: "gc", reason: "process gone" }),
    ).toMatchObject({
      isCollected: true,
    });
    expect(desk.run({ kind: "renew", items: [{ lease, token, sendNumber: 2n }] }, "a")).toMatchObject({
      results: [{ kind: "revoked", reason: "process gone" }],
    });
    expect(desk.try("b", lease).kind).toBe("tombstone");
    desk.advance(15_000);
    desk.run({ kind: "expire", lease }, "owner");
    expect(desk.record(lease)).toMatchObject({ created: undefined, lastEndReason: "collected" });
  });
});
