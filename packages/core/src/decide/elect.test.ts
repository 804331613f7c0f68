import { describe, expect, it } from "vitest";
import { leaseStateOf } from "../lease-state.ts";
import type { CommandOf } from "../partition/command.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { candidateSpec, register } from "../testing/candidates.ts";
import { Desk } from "../testing/desk.ts";

const lease = "billing/scheduler";

function elect(desk: Desk, candidate: string, more: Partial<CommandOf<"elect">> = {}) {
  const record = desk.state.leases.get(lease);
  const expectedRevision = record?.created === undefined ? 0n : record.revision.sequence;
  return desk.run({ kind: "elect", lease, expectedRevision, candidate, coordinator: "co-1", ...more }, "election");
}

function accept(desk: Desk, candidate: string, more: Partial<CommandOf<"accept">> = {}) {
  const token = desk.record(lease).pending?.token ?? 0n;
  const body = {
    kind: "accept",
    lease,
    candidate,
    token,
    claimant: { holder: candidate },
    sendNumber: 9n,
    ...more,
  } as const;
  return desk.run(body, more.principal ?? candidate);
}

describe("elect and accept (rule 18)", () => {
  it("[52] creates a missing lease with a pending choice that nobody leads by, until its accept", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const strategy = { kind: "oldestCompatibilityVersion", expression: "", vendor: "" } as const;
    const decision = { id: "d-1", body: new Uint8Array([1]) };
    expect(elect(desk, "a", { strategy, decision }).kind).toBe("changed");
    const record = desk.record(lease);
    expect(record).toMatchObject({ holds: [], pending: { candidate: "a", electedBy: "co-1", acceptWindowMs: 2_000 } });
    expect(record.strategy).toMatchObject({ strategy, source: "consensus", author: "co-1" });
    expect(record.decisions).toMatchObject([{ id: "d-1" }]);
    expect(leaseStateOf(record, desk.now)).toBe("pending");
    const token = record.pending?.token ?? 0n;
    const guarded = {
      kind: "guard",
      lease,
      token,
      comparisons: [],
      changes: [{ key: "k", value: new Uint8Array() }],
    } as const;
    expect(desk.run(guarded, "a").kind).toBe("notHolder");
    expect(desk.run({ kind: "renew", items: [{ lease, token, sendNumber: 1n }] }, "a")).toMatchObject({
      results: [{ kind: "notHolder" }],
    });
    expect(accept(desk, "a")).toMatchObject({ kind: "granted", grants: [{ lease, token, sendNumber: 9n }] });
    expect(desk.record(lease)).toMatchObject({ pending: undefined, transitions: 1 });
    expect(desk.record(lease).holds[0]).toMatchObject({
      holder: "a",
      token,
      origin: "elected",
      details: { candidate: "a", electedBy: "co-1", decisionId: "d-1" },
    });
  });

  it("[53] a new holder has a new acquire time and one transition more", () => {
    const desk = new Desk();
    const { token } = desk.take("z", lease);
    desk.run({ kind: "release", items: [{ lease, token }] }, "z");
    register(desk, lease, "a");
    desk.advance(1_000);
    elect(desk, "a");
    accept(desk, "a");
    expect(desk.record(lease).transitions).toBe(1);
    expect(desk.record(lease).holds[0]?.granted.wallMs).toBe(desk.wallMs);
  });

  it.each([
    [1_999, "granted"],
    [2_000, "acceptTooLate"],
  ])("takes an accept %i ms after the choice as %s", (elapsedMs, kind) => {
    const desk = new Desk();
    register(desk, lease, "a");
    elect(desk, "a");
    desk.advance(elapsedMs);
    expect(accept(desk, "a").kind).toBe(kind);
  });

  it("refuses an accept by another candidate, principal or token, or under another name", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    register(desk, lease, "b");
    elect(desk, "a");
    expect(accept(desk, "b").kind).toBe("notPending");
    expect(accept(desk, "a", { token: 1n }).kind).toBe("notPending");
    expect(accept(desk, "a", { principal: "b" }).kind).toBe("principalMismatch");
    expect(accept(desk, "a", { claimant: { holder: "x" } }).kind).toBe("invalid");
    expect(accept(desk, "a").kind).toBe("granted");
    expect(accept(desk, "a").kind).toBe("notPending");
  });

  it("takes no accept while terms of before a restore may still be acting", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    elect(desk, "a");
    desk.run({ kind: "beginRecovery" }, "owner");
    expect(accept(desk, "a")).toMatchObject({ kind: "recovering" });
  });

  it("passes over one that did not accept: it backs off, twice as long each time, and the next has a higher token", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    register(desk, lease, "b");
    elect(desk, "a");
    const first = desk.record(lease).pending?.token ?? 0n;
    expect(elect(desk, "b")).toMatchObject({ kind: "held", holder: "a", retryAfterMs: 2_000 });
    desk.advance(2_000);
    expect(desk.run({ kind: "expire", lease }, "owner").kind).toBe("changed");
    expect(desk.record(lease)).toMatchObject({ pending: undefined, lastEndReason: "notAccepted" });
    expect(elect(desk, "a")).toMatchObject({ kind: "candidateNotElectable", why: "coolDown" });
    desk.advance(2_000);
    elect(desk, "a");
    expect(desk.record(lease).pending?.token).toBeGreaterThan(first);
    desk.advance(2_000);
    // Lapses in the same step as the next choice.
    expect(elect(desk, "b").kind).toBe("changed");
    expect(desk.record(lease).candidates?.get("a")).toMatchObject({
      missedAccepts: 2,
      coolDown: { coolDownMs: 4_000 },
    });
    expect(accept(desk, "b").kind).toBe("granted");
    const history = desk.record(lease).history.map(({ holder, kind }) => `${kind} ${holder}`.trim());
    expect(history).toEqual(["created", "elected a", "ended a", "elected a", "ended a", "elected b", "granted b"]);
  });

  it("[72] clears the preferred holder in the step that elects", () => {
    const desk = new Desk();
    const { token } = desk.take("z", lease);
    register(desk, lease, "a");
    const expectedRevision = desk.record(lease).revision.sequence;
    desk.run({ kind: "markEndOfTerm", lease, expectedRevision, token, preferredHolder: "a" }, "election");
    desk.advance(15_000);
    expect(elect(desk, "a").kind).toBe("changed");
    expect(desk.record(lease)).toMatchObject({ preferredHolder: "", endOfTerm: undefined, holds: [] });
  });

  it("[73] writes no other holder into a lease that has not expired, whatever the coordinator saw", () => {
    const desk = new Desk();
    desk.take("z", lease);
    register(desk, lease, "a");
    expect(elect(desk, "a")).toMatchObject({ kind: "held", holder: "z" });
    expect(elect(desk, "a", { expectedRevision: 1n }).kind).toBe("revisionConflict");
    expect(elect(desk, "a", { expectedRevision: 0n }).kind).toBe("revisionConflict");
  });

  it("[77] elects without waiting after a release or deletion, [78] and gives the same holder a fresh term after an expiry", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    elect(desk, "a");
    accept(desk, "a");
    const first = desk.record(lease).lastToken;
    desk.run({ kind: "release", items: [{ lease, token: first }] }, "a");
    expect(elect(desk, "a").kind).toBe("changed");
    accept(desk, "a");
    const second = desk.record(lease).lastToken;
    desk.advance(15_000);
    register(desk, lease, "a");
    expect(elect(desk, "a").kind).toBe("changed");
    accept(desk, "a");
    const third = desk.record(lease).lastToken;
    expect([second > first, third > second]).toEqual([true, true]);
    desk.run({ kind: "release", items: [{ lease, token: third }] }, "a");
    desk.run({ kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined }, "op");
    expect(elect(desk, "a").kind).toBe("changed");
  });

  it("[79] elects on a lease that was created with nothing in it", () => {
    const desk = new Desk();
    desk.run({ kind: "create", lease, spec: defaultLeaseSpec }, "op");
    register(desk, lease, "a");
    expect(elect(desk, "a").kind).toBe("changed");
  });

  it.each([
    ["unhealthy", { isHealthy: false }],
    ["never", { preference: "never" }],
  ] as const)("does not elect a candidate that is %s", (why, spec) => {
    const desk = new Desk();
    register(desk, lease, "a", spec);
    expect(elect(desk, "a")).toEqual({ kind: "candidateNotElectable", lease, candidate: "a", why });
  });

  it("does not elect one that is expired, cordoned or unknown, nor with a malformed strategy or a huge decision", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const cordon = { kind: "setCordon", lease, candidate: "a", expectedRevision: undefined } as const;
    desk.run({ ...cordon, cordon: { expiresAfterMs: 1_000 } }, "op");
    expect(elect(desk, "a")).toMatchObject({ why: "cordoned" });
    desk.advance(1_000);
    const strategy = { kind: "vendor", expression: "", vendor: "a/b/c" } as const;
    expect(elect(desk, "a", { strategy })).toMatchObject({ kind: "invalid" });
    const decision = { id: "d", body: new Uint8Array(65_537) };
    expect(elect(desk, "a", { decision })).toMatchObject({ kind: "limitExceeded", limit: "decisionBytes" });
    desk.advance(candidateSpec().validityMs);
    expect(elect(desk, "a")).toMatchObject({ why: "expired" });
    expect(elect(desk, "nobody").kind).toBe("candidateNotFound");
  });

  it("keeps an operator's strategy, and survives a change of owner: the window runs from the new owner's sight", () => {
    const desk = new Desk();
    const operators = { kind: "priority", expression: "", vendor: "" } as const;
    const setting = { strategy: operators, source: "operator" } as const;
    desk.run({ kind: "putStrategy", lease, expectedRevision: 0n, strategy: setting, conflict: undefined }, "op");
    register(desk, lease, "a");
    elect(desk, "a", { strategy: { kind: "newestCompatibilityVersion", expression: "", vendor: "" } });
    expect(desk.record(lease).strategy).toMatchObject({ strategy: operators, source: "operator" });
    desk.advance(1_500);
    desk.restart();
    desk.advance(1_500);
    expect(accept(desk, "a").kind).toBe("granted");
  });

  it("is not decided in an epoch's first batch, and an accept neither", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    elect(desk, "a");
    const token = desk.record(lease).pending?.token ?? 0n;
    const takeOver = { kind: "takeOver", epoch: 2n, owner: "o", isHandedOver: false, principal: "o" } as const;
    const body = { kind: "accept", lease, candidate: "a", token, claimant: { holder: "a" }, sendNumber: 1n } as const;
    expect(desk.batch(takeOver, { ...body, principal: "a" }).map(({ kind }) => kind)).toEqual(["noted", "nextBatch"]);
  });
});
