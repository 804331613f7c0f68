import { describe, expect, it } from "vitest";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { claimOf, Desk, firstSequence } from "../testing/desk.ts";
import { defaultTiming } from "../timing.ts";

const lease = "billing/scheduler";

describe("acquire", () => {
  it("[1] creates a missing lease with the claimant as holder, transitions 0 and one time for both", () => {
    const desk = new Desk();
    const grant = desk.take("a", lease);
    const record = desk.record(lease);
    const [hold] = record.holds;
    expect(hold).toMatchObject({ holder: "a", token: grant.token, origin: "acquired", leaseDurationMs: 15_000 });
    expect(record.transitions).toBe(0);
    expect(hold?.granted).toBe(hold?.renewal);
    expect(record.created).toBe(hold?.granted);
    expect(hold?.granted.wallMs).toBe(desk.wallMs);
  });

  it("[2] refuses another while the holder's term is valid, and changes nothing", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const before = desk.record(lease).revision;
    desk.advance(1_000);
    expect(desk.try("b", lease)).toEqual({ kind: "held", lease, holder: "a", token, retryAfterMs: 14_000 });
    expect(desk.record(lease).revision).toBe(before);
    expect(desk.record(lease).holds.map(({ holder }) => holder)).toEqual(["a"]);
  });

  it("refuses the holder a second term too: another process may bear its name", () => {
    const desk = new Desk();
    desk.take("a", lease);
    expect(desk.try("a", lease)).toMatchObject({ kind: "held", holder: "a" });
  });

  it("[4] gives an expired lease to the next claimant with transitions + 1 and a new acquire time", () => {
    const desk = new Desk();
    const first = desk.take("a", lease);
    desk.advance(15_000);
    const second = desk.take("b", lease);
    const record = desk.record(lease);
    expect(record.transitions).toBe(1);
    expect(record.holds).toHaveLength(1);
    expect(record.holds[0]).toMatchObject({ holder: "b", token: second.token });
    expect(record.holds[0]?.granted.wallMs).toBe(desk.wallMs);
    expect(second.token).toBeGreaterThan(first.token);
  });

  it.each([
    [14_999, "held"],
    [15_000, "granted"],
  ])("[5] counts a lease that was seen %i ms ago with 15 s as %s", (elapsedMs, kind) => {
    const desk = new Desk();
    desk.take("a", lease);
    desk.advance(elapsedMs);
    expect(desk.try("b", lease).kind).toBe(kind);
  });

  it("[6] waits for the duration of the record, not for the claimant's own", () => {
    const desk = new Desk();
    desk.take("a", lease);
    desk.advance(5_000);
    const timing = { leaseDurationMs: 6_000, usableTermMs: 3_900, renewIntervalMs: 900, requestTimeoutMs: 900 };
    expect(desk.try("b", lease, { claimant: { holder: "b", timing } })).toMatchObject({
      kind: "held",
      retryAfterMs: 10_000,
    });
  });

  it("[7] judges by when the owner saw the last renewal: a replica that starts from a snapshot waits one full duration", () => {
    const desk = new Desk();
    desk.take("a", lease);
    desk.advance(14_000);
    desk.restart();
    desk.advance(14_999);
    expect(desk.try("b", lease).kind).toBe("held");
    desk.advance(1);
    expect(desk.try("b", lease).kind).toBe("granted");
  });

  it("[8] decides the same whatever the wall clock says", () => {
    const desk = new Desk();
    desk.take("a", lease);
    desk.wallMs += 86_400_000;
    expect(desk.try("b", lease).kind).toBe("held");
    desk.wallMs -= 2 * 86_400_000;
    desk.advance(15_000);
    expect(desk.try("b", lease).kind).toBe("granted");
  });

  it("[10] increments transitions when the holder was empty", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    desk.take("b", lease);
    expect(desk.record(lease).transitions).toBe(1);
    desk.run({ kind: "create", lease: "billing/free", spec: defaultLeaseSpec }, "op");
    desk.take("b", "billing/free");
    expect(desk.record("billing/free").transitions).toBe(1);
  });

  it("[13] lets exactly one of two contenders for an expired lease win, in one batch or in two", () => {
    const desk = new Desk();
    desk.take("a", lease);
    desk.advance(15_000);
    const replies = desk.batch(claimOf("b", lease), claimOf("c", lease));
    expect(replies.map(({ kind }) => kind)).toEqual(["granted", "held"]);
    expect(desk.try("d", lease)).toMatchObject({ kind: "held", holder: "b" });
  });

  it("[20] treats a lease with an empty spec as free", () => {
    const desk = new Desk();
    expect(desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op").kind).toBe("changed");
    expect(desk.record(lease).holds).toEqual([]);
    expect(desk.try("a", lease).kind).toBe("granted");
  });

  it("refuses a malformed name where it would create it", () => {
    const desk = new Desk();
    expect(desk.try("a", "billing/No")).toMatchObject({ kind: "invalid", violations: [{ field: "lease.name" }] });
    expect(desk.state.leases.size).toBe(0);
  });

  it.each([
    [{ ...defaultTiming, leaseDurationMs: 14_000 }, [1]],
    [{ ...defaultTiming, requestTimeoutMs: 3_000 }, [3]],
    [
      { ...defaultTiming, leaseDurationMs: 4_000, usableTermMs: 2_000, renewIntervalMs: 500, requestTimeoutMs: 500 },
      [0],
    ],
  ])("refuses a claimant whose timing is not safe: %j", (timing, inequalities) => {
    const desk = new Desk();
    const reply = desk.try("a", lease, { claimant: { holder: "a", timing } });
    expect(reply.kind).toBe("timingUnsafe");
    const violations = reply.kind === "timingUnsafe" ? reply.violations : [];
    expect(violations.map(({ inequality }) => inequality)).toEqual(inequalities);
  });

  it("counts the lease's lock delay into what keeps two holders apart", () => {
    const desk = new Desk();
    const timing = { ...defaultTiming, leaseDurationMs: 12_000 };
    const spec = { ...defaultLeaseSpec, lockDelayMs: 3_000 };
    expect(desk.try("a", lease, { claimant: { holder: "a", timing }, claim: { spec } }).kind).toBe("granted");
    expect(desk.record(lease).holds[0]).toMatchObject({ leaseDurationMs: 12_000, lockDelayMs: 3_000 });
  });

  it("[25] honours a duration of fractional seconds exactly", () => {
    const desk = new Desk();
    const spec = { ...defaultLeaseSpec, leaseDurationMs: 5_500 };
    desk.take("a", lease, { claim: { spec } });
    desk.advance(5_499);
    expect(desk.try("b", lease).kind).toBe("held");
    desk.advance(1);
    expect(desk.try("b", lease).kind).toBe("granted");
  });

  it("refuses a holder without a name, a value that is too large, no claim at all and one lease twice", () => {
    const desk = new Desk();
    expect(desk.try("a", lease, { claimant: { holder: "" } }).kind).toBe("invalid");
    const value = new Uint8Array(4_097);
    expect(desk.try("a", lease, { claimant: { holder: "a", value } })).toEqual({
      kind: "limitExceeded",
      limit: "holdValueBytes",
      value: 4_096,
    });
    expect(desk.try("a", lease, { claims: [] }).kind).toBe("invalid");
    const claim = { lease, mode: "exclusive", units: 1 } as const;
    expect(desk.try("a", lease, { claims: [claim, claim] }).kind).toBe("invalid");
  });

  it("keeps what the claimant said of itself, and changes nothing in a dry run", () => {
    const desk = new Desk();
    const participant = { component: "ccm", version: "1.22.0", configurationDigest: "ab" };
    const value = new Uint8Array([1]);
    const claimant = { holder: "a", holderKey: "k", renewKeyHash: "ff", identity: "host-1", participant, value };
    expect(desk.try("a", lease, { claimant, isDryRun: true }).kind).toBe("granted");
    expect(desk.state.leases.size).toBe(0);
    desk.take("a", lease, { claimant });
    expect(desk.record(lease).holds[0]).toMatchObject({
      holderKey: "k",
      details: { renewKeyHash: "ff", identity: "host-1", participant, value },
    });
  });
});

describe("tokens (rule 5)", () => {
  it("[37] grow across release, expiry, deletion and re-creation, and stay for the term", () => {
    const desk = new Desk();
    const tokens: bigint[] = [];
    const note = (token: bigint) => {
      for (const older of tokens) expect(token).toBeGreaterThan(older);
      tokens.push(token);
      return token;
    };
    let token = note(desk.take("a", lease).token);
    desk.run({ kind: "renew", items: [{ lease, token, sendNumber: 2n }] }, "a");
    expect(desk.record(lease).holds[0]?.token).toBe(token);
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    note(desk.take("b", lease).token);
    desk.advance(15_000);
    token = note(desk.take("c", lease).token);
    desk.run({ kind: "release", items: [{ lease, token }] }, "c");
    desk.run({ kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined }, "op");
    expect(desk.record(lease).created).toBeUndefined();
    desk.run({ kind: "removeTombstones", leases: [lease] }, "owner");
    expect(desk.state.leases.has(lease)).toBe(false);
    note(desk.take("d", lease).token);
    desk.restart();
    desk.advance(15_000);
    note(desk.take("e", lease).token);
  });

  it("are above the sequence that the batch expects", () => {
    const desk = new Desk();
    const prev = desk.sequence;
    expect(desk.take("a", lease).token).toBe(prev + 1n);
    expect(prev).toBeGreaterThan(firstSequence);
  });

  it("are above the last one of the name even where the log is behind it", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.record(lease).lastToken = 10_000_000n;
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.take("b", lease).token).toBe(10_000_001n);
    // Nor may the name be forgotten before the log has passed it.
    desk.run({ kind: "release", items: [{ lease, token: 10_000_001n }] }, "b");
    desk.run({ kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined }, "op");
    desk.run({ kind: "removeTombstones", leases: [lease] }, "owner");
    expect(desk.record(lease).lastToken).toBe(10_000_001n);
  });

  it("allow one new term per lease and batch: the second asks again in the next", () => {
    const desk = new Desk();
    const prev = desk.sequence;
    const release = { kind: "release", items: [{ lease, token: prev + 1n }], principal: "a" } as const;
    const replies = desk.batch(claimOf("a", lease), release, claimOf("b", lease), claimOf("b", "billing/other"));
    expect(replies.map(({ kind }) => kind)).toEqual(["granted", "released", "nextBatch", "granted"]);
    expect(desk.try("b", lease).kind).toBe("granted");
  });

  it("are not given in an epoch's first batch (rule 9)", () => {
    const desk = new Desk();
    const takeOver = { kind: "takeOver", epoch: 2n, owner: "b", isHandedOver: true, principal: "b" } as const;
    expect(desk.batch(takeOver, claimOf("a", lease)).map(({ kind }) => kind)).toEqual(["noted", "nextBatch"]);
    expect(desk.try("a", lease).kind).toBe("granted");
  });

  it("are not given after a restore before one maximum duration has passed", () => {
    const desk = new Desk();
    desk.run({ kind: "beginRecovery" }, "owner");
    expect(desk.try("a", lease)).toEqual({ kind: "recovering", retryAfterMs: 300_000 });
    desk.advance(299_999);
    expect(desk.try("a", lease)).toEqual({ kind: "recovering", retryAfterMs: 1 });
    desk.run({ kind: "endRecovery" }, "owner");
    expect(desk.state.recovery).toBeDefined();
    desk.restart();
    expect(desk.try("a", lease)).toMatchObject({ kind: "recovering", retryAfterMs: 300_000 });
    desk.advance(300_000);
    expect(desk.try("a", lease).kind).toBe("granted");
    desk.run({ kind: "endRecovery" }, "owner");
    expect(desk.state.recovery).toBeUndefined();
  });

  it("are held back after a restore for the longest lock delay as well", () => {
    const desk = new Desk();
    desk.take("a", lease, { claim: { spec: { ...defaultLeaseSpec, lockDelayMs: 4_000 } } });
    desk.run({ kind: "beginRecovery" }, "owner");
    expect(desk.state.recovery?.holdOffMs).toBe(304_000);
  });

  it("give hold ids that never repeat, also after a restore into a later stream", () => {
    const desk = new Desk();
    const first = desk.take("a", "billing/a").holdId;
    const second = desk.take("a", "billing/b").holdId;
    expect(second).toBeGreaterThan(first);
    desk.state.lastSequence = 5_000_000n;
    desk.follower.lastSequence = 5_000_000n;
    desk.sequence = 5_000_000n;
    expect(desk.take("a", "billing/c").holdId).toBeGreaterThan(5_000_000);
  });
});

describe("several leases at once (rule 1)", () => {
  const claims = ["1", "2", "3"].map(
    (part) => ({ lease: `billing/acct:${part}`, mode: "exclusive", units: 1 }) as const,
  );

  it("are granted all or none", () => {
    const desk = new Desk();
    desk.take("b", "billing/acct:2");
    expect(desk.try("a", "", { claims })).toMatchObject({ kind: "held", lease: "billing/acct:2", holder: "b" });
    expect([...desk.state.leases.keys()]).toEqual(["billing/acct:2"]);
    desk.advance(15_000);
    const reply = desk.try("a", "", { claims });
    expect(reply.kind === "granted" && reply.grants.map((grant) => grant.lease)).toEqual(
      claims.map((claim) => claim.lease),
    );
    expect(new Set(reply.kind === "granted" ? reply.grants.map(({ holdId }) => holdId) : []).size).toBe(3);
  });

  it("are refused when they do not share their routing part", () => {
    const desk = new Desk();
    const far = [...claims, { lease: "billing/other:1", mode: "exclusive", units: 1 } as const];
    expect(desk.try("a", "", { claims: far })).toEqual({ kind: "routingPartsDiffer", leases: far.map((c) => c.lease) });
  });

  it("are bounded in number, and count together against the namespace's limit", () => {
    const desk = new Desk();
    const many = Array.from(
      { length: 17 },
      (_, n) => ({ lease: `billing/acct:${n}`, mode: "exclusive", units: 1 }) as const,
    );
    expect(desk.try("a", "", { claims: many })).toMatchObject({ kind: "limitExceeded", limit: "claimsPerAcquire" });
    const { settings } = desk.state;
    desk.run(
      { kind: "changeSettings", settings: { ...settings, limits: { ...settings.limits, leasesPerNamespace: 2 } } },
      "o",
    );
    expect(desk.try("a", "", { claims })).toEqual({ kind: "limitExceeded", limit: "leasesPerNamespace", value: 2 });
    expect(desk.try("a", "", { claims: claims.slice(0, 2) }).kind).toBe("granted");
    expect(desk.try("a", "other/lease").kind).toBe("granted");
  });
});

describe("modes", () => {
  it("let readers share and keep a writer out, and the other way round", () => {
    const desk = new Desk();
    const shared = { claim: { mode: "shared" } } as const;
    const one = desk.take("a", lease, shared);
    const two = desk.take("b", lease, shared);
    expect(two.token).toBeGreaterThan(one.token);
    expect(desk.try("w", lease)).toMatchObject({ kind: "held", holder: "a" });
    desk.run({ kind: "release", items: [{ lease, token: one.token }] }, "a");
    expect(desk.try("w", lease)).toMatchObject({ kind: "held", holder: "b" });
    desk.run({ kind: "release", items: [{ lease, token: two.token }] }, "b");
    desk.take("w", lease);
    expect(desk.try("a", lease, shared)).toMatchObject({ kind: "held", holder: "w" });
  });

  it("count units up to the capacity", () => {
    const desk = new Desk();
    const spec = { ...defaultLeaseSpec, mode: "counted", capacity: 3 } as const;
    const claim = (units: number) => ({ claim: { mode: "counted", units, spec } }) as const;
    desk.take("a", lease, claim(2));
    expect(desk.try("b", lease, claim(2)).kind).toBe("held");
    desk.take("b", lease, claim(1));
    expect(desk.try("c", lease, claim(1)).kind).toBe("held");
    expect(desk.try("c", lease, claim(4)).kind).toBe("invalid");
    expect(desk.try("c", lease, claim(0)).kind).toBe("invalid");
    expect(desk.try("c", lease)).toEqual({ kind: "holdModeMismatch", lease, mode: "counted", wanted: "exclusive" });
    desk.advance(15_000);
    expect(desk.try("c", lease, claim(3)).kind).toBe("granted");
    expect(desk.record(lease).holds.map(({ holder }) => holder)).toEqual(["c"]);
  });

  it("refuse a counted claim of a lease that has no capacity", () => {
    const desk = new Desk();
    desk.take("a", lease);
    expect(desk.try("b", lease, { claim: { mode: "counted" } }).kind).toBe("holdModeMismatch");
    expect(desk.try("b", "billing/new", { claim: { mode: "counted" } }).kind).toBe("holdModeMismatch");
  });

  it("bound the holders of one lease", () => {
    const desk = new Desk();
    const { settings } = desk.state;
    desk.run(
      { kind: "changeSettings", settings: { ...settings, limits: { ...settings.limits, holdsPerLease: 2 } } },
      "o",
    );
    const shared = { claim: { mode: "shared" } } as const;
    desk.take("a", lease, shared);
    desk.take("b", lease, shared);
    expect(desk.try("c", lease, shared)).toEqual({ kind: "limitExceeded", limit: "holdsPerLease", value: 2 });
  });
});

describe("lock delay", () => {
  const spec = { ...defaultLeaseSpec, lockDelayMs: 4_000 };

  it("follows an expiry and not a release, and survives deletion of the name", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease, { claim: { spec } });
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    desk.take("b", lease);
    desk.advance(15_000);
    expect(desk.try("c", lease)).toEqual({ kind: "lockDelay", lease, retryAfterMs: 4_000 });
    desk.run({ kind: "expire", lease }, "owner");
    desk.run({ kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined }, "op");
    desk.advance(3_999);
    expect(desk.try("c", lease)).toEqual({ kind: "lockDelay", lease, retryAfterMs: 1 });
    desk.run({ kind: "removeTombstones", leases: [lease] }, "owner");
    desk.advance(1);
    expect(desk.try("c", lease).kind).toBe("granted");
  });

  it("is the one of the term, whatever was edited since (rule 16)", () => {
    const desk = new Desk();
    desk.take("a", lease, { claim: { spec } });
    const { sequence } = desk.record(lease).revision;
    desk.run(
      {
        kind: "update",
        lease,
        expectedRevision: sequence,
        expectedUid: undefined,
        spec: { lockDelayMs: 0 },
        createIfAbsent: false,
      },
      "op",
    );
    desk.advance(15_000);
    desk.run({ kind: "expire", lease }, "owner");
    expect(desk.try("b", lease)).toEqual({ kind: "lockDelay", lease, retryAfterMs: 4_000 });
    desk.advance(4_000);
    desk.take("b", lease);
    expect(desk.record(lease).holds[0]?.lockDelayMs).toBe(0);
  });

  it("of two terms the longer counts from the later end", () => {
    const desk = new Desk();
    const counted = { ...spec, mode: "counted", capacity: 2 } as const;
    desk.take("a", lease, { claim: { mode: "counted", spec: counted } });
    const { sequence } = desk.record(lease).revision;
    const edit = {
      kind: "update",
      lease,
      expectedUid: undefined,
      spec: { lockDelayMs: 1_000 },
      createIfAbsent: false,
    } as const;
    desk.run({ ...edit, expectedRevision: sequence }, "op");
    desk.take("b", lease, { claim: { mode: "counted" } });
    desk.advance(15_000);
    desk.run({ kind: "expire", lease }, "owner");
    expect(desk.try("c", lease, { claim: { mode: "counted" } })).toMatchObject({
      kind: "lockDelay",
      retryAfterMs: 4_000,
    });
  });
});
