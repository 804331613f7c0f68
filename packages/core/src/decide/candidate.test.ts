import { describe, expect, it } from "vitest";
import { isCandidateValid, priorityOf } from "../coordination.ts";
import type { CandidateSpec } from "../record/candidate.ts";
import { candidateSpec, register } from "../testing/candidates.ts";
import { Desk } from "../testing/desk.ts";
import { strategyNamed } from "../validation/strategy.ts";

const lease = "billing/scheduler";
const vendor = { kind: "vendor", expression: "", vendor: "example.com/foo" } as const;
const known = (desk: Desk, name = "a") => desk.record(lease).candidates?.get(name);

function fieldsOf(more: Partial<CandidateSpec>): readonly string[] {
  const reply = register(new Desk(), lease, "a", more);
  return reply.kind === "invalid" ? reply.violations.map(({ field }) => field) : [reply.kind];
}

describe("candidates as they are registered: [41] [42] [43] [44]", () => {
  it.each([
    ["[41] without a binary version", { binaryVersion: "" }, ["spec.binary_version"]],
    ["[42] with a leading v", { binaryVersion: "v1.2.3" }, ["spec.binary_version"]],
    [
      "[42] with two numbers",
      { binaryVersion: "1.2", compatibilityVersion: "1.2" },
      ["spec.binary_version", "spec.compatibility_version"],
    ],
    ["[42] with four numbers", { binaryVersion: "1.2.3.4" }, ["spec.binary_version"]],
    [
      "[43] with a compatibility version above the binary one",
      { compatibilityVersion: "1.21.0" },
      ["spec.binary_version"],
    ],
    [
      "[44] without the compatibility version that its strategy needs",
      { compatibilityVersion: "" },
      ["spec.compatibility_version"],
    ],
    [
      "[44] without one, under a vendor's strategy",
      { compatibilityVersion: "", strategy: vendor },
      ["candidateChanged"],
    ],
    ["with a validity that is too short", { validityMs: 9_999 }, ["spec.validity"]],
    ["with a zone that is too long", { zone: "z".repeat(254) }, ["spec.zone"]],
    ["with an unknown preference", { preference: "maybe" as "never" }, ["spec.preference"]],
    ["with a long health note", { healthNote: "é".repeat(129) }, ["spec.health_note"]],
  ])("%s", (_, more, expected) => {
    expect(fieldsOf(more)).toEqual(expected);
  });

  it.each([
    ["foo", undefined],
    ["", undefined],
    ["example.com/foo", { kind: "vendor", expression: "", vendor: "example.com/foo" }],
    ["a/b/c", undefined],
    ["OldestEmulationVersion", { kind: "oldestCompatibilityVersion", expression: "", vendor: "" }],
    ["NoCoordination", { kind: "noCoordination", expression: "", vendor: "" }],
    ["Expression", undefined],
  ])("[45] reads the strategy name %j", (name, strategy) => {
    expect(strategyNamed(name)).toEqual(strategy);
  });

  it("[45] refuses strategies whose parts do not fit their kind", () => {
    expect(fieldsOf({ strategy: { kind: "vendor", expression: "", vendor: "foo" } })).toEqual(["spec.strategy.vendor"]);
    expect(fieldsOf({ strategy: { kind: "priority", expression: "", vendor: "a.b/c" } })).toEqual([
      "spec.strategy.vendor",
    ]);
    expect(fieldsOf({ strategy: { kind: "expression", expression: "", vendor: "" } })).toEqual([
      "spec.strategy.expression",
    ]);
    expect(fieldsOf({ strategy: { kind: "priority", expression: "1", vendor: "" } })).toEqual([
      "spec.strategy.expression",
    ]);
    const unknown = { kind: "foo" as "priority", expression: "", vendor: "" };
    expect(fieldsOf({ strategy: unknown })).toEqual(["spec.strategy.kind"]);
  });

  it("[48] refuses an illegal lease name, and [47] an illegal candidate name", () => {
    const desk = new Desk();
    const body = { kind: "registerCandidate", candidate: "Host_1-uuid.x", spec: candidateSpec() } as const;
    expect(desk.run({ ...body, lease: "billing/Not_Legal" }, "a")).toMatchObject({
      violations: [{ field: "lease.name" }],
    });
    expect(desk.run({ ...body, lease }, "a").kind).toBe("candidateChanged");
    expect(desk.run({ ...body, lease, candidate: "..x" }, "a")).toMatchObject({
      violations: [{ field: "candidate.name" }],
    });
  });

  it.each([0, -1, 1.5, 2 ** 31])("[104] refuses the priority %d", (value) => {
    const reply = register(new Desk(), lease, "a", {}, { value, expiresAfterMs: undefined });
    expect(reply).toMatchObject({ kind: "invalid", violations: [{ field: "priority.value" }] });
  });
});

describe("candidates", () => {
  it("register for a lease that need not exist, and [51] touch no lease by that", () => {
    const desk = new Desk();
    expect(register(desk, lease, "a").kind).toBe("candidateChanged");
    expect(desk.record(lease).created).toBeUndefined();
    expect(desk.record(lease).history).toEqual([]);
  });

  it("[87] correct themselves under a stable name and keep their age", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const { registered, uid } = known(desk) ?? {};
    desk.advance(1_000);
    register(desk, lease, "a", { binaryVersion: "1.21.0" });
    expect(known(desk)).toMatchObject({ uid, spec: { binaryVersion: "1.21.0" } });
    expect(known(desk)?.registered).toBe(registered);
    expect(known(desk)?.renewal.wallMs).toBe(desk.wallMs);
  });

  it("of another principal keep their name", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const again = { kind: "registerCandidate", lease, candidate: "a", spec: candidateSpec() } as const;
    expect(desk.run(again, "thief")).toMatchObject({ kind: "alreadyExists", candidate: "a" });
    const update = { kind: "updateCandidate", lease, candidate: "a", expectedRevision: undefined, spec: {} } as const;
    expect(desk.run(update, "thief").kind).toBe("principalMismatch");
    const withdraw = { kind: "withdrawCandidate", lease, candidate: "a", expectedRevision: undefined } as const;
    expect(desk.run(withdraw, "thief").kind).toBe("principalMismatch");
    const answers = [{ lease, candidate: "a", pingNumber: 0n }];
    expect(desk.run({ kind: "ackCandidates", answers }, "thief")).toMatchObject({ isKnown: [false] });
  });

  it("[46] change what they say, at the expected revision, but never their lease", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const update = { kind: "updateCandidate", lease, candidate: "a" } as const;
    const at = known(desk)?.revision.sequence;
    expect(desk.run({ ...update, expectedRevision: 1n, spec: {} }, "a").kind).toBe("revisionConflict");
    expect(desk.run({ ...update, expectedRevision: at, spec: { zone: "eu-1" } }, "a").kind).toBe("candidateChanged");
    expect(known(desk)?.spec).toEqual(candidateSpec({ zone: "eu-1" }));
    expect(desk.run({ ...update, expectedRevision: undefined, spec: { binaryVersion: "x" } }, "a").kind).toBe(
      "invalid",
    );
    // The lease is part of a candidate's key: the same name elsewhere is another candidate.
    const elsewhere = { ...update, lease: "billing/other", expectedRevision: undefined, spec: {} };
    expect(desk.run(elsewhere, "a").kind).toBe("candidateNotFound");
  });

  it("[54] are asked by number, [60] and answer by echoing it: no clock is compared", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    register(desk, lease, "b");
    const ping = { kind: "pingCandidates", lease, coordinator: "co-1" } as const;
    expect(desk.run({ ...ping, candidates: ["a", "ghost", "b"] }, "co")).toMatchObject({
      kind: "pinged",
      pingNumbers: [1n, 0n, 1n],
    });
    desk.wallMs -= 3_600_000;
    desk.advance(500);
    const ack = (pingNumber: bigint) =>
      desk.run({ kind: "ackCandidates", answers: [{ lease, candidate: "a", pingNumber }] }, "a");
    expect(ack(2n)).toMatchObject({ kind: "answered", isKnown: [false], position: undefined });
    expect(ack(1n)).toMatchObject({ isKnown: [true] });
    expect(known(desk)?.ping).toMatchObject({ number: 1n, answeredNumber: 1n });
    expect(known(desk, "b")?.ping).toMatchObject({ number: 1n, answeredNumber: 0n });
    expect(desk.run({ ...ping, candidates: ["a"] }, "co")).toMatchObject({ pingNumbers: [2n] });
    const { revision } = known(desk) ?? {};
    desk.advance(100);
    expect(ack(1n)).toMatchObject({ isKnown: [true] });
    expect(known(desk)?.ping).toMatchObject({ number: 2n, answeredNumber: 1n });
    expect(known(desk)?.renewal.sequence).toBe(desk.sequence);
    expect(known(desk)?.revision).toBe(revision);
    expect(desk.run({ ...ping, candidates: ["ghost"] }, "co")).toMatchObject({
      pingNumbers: [0n],
      position: undefined,
    });
  });

  it("[61] count for exactly their validity after a renewal, on the replica's own clock", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const candidate = known(desk);
    const { validityMs } = candidateSpec();
    expect(candidate && isCandidateValid(candidate, desk.now + validityMs)).toBe(true);
    expect(candidate && isCandidateValid(candidate, desk.now + validityMs + 1)).toBe(false);
  });

  it("[88] withdraw from a choice that they have not accepted: the next may be chosen at once", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    register(desk, lease, "b");
    const elect = (candidate: string) => {
      const expectedRevision =
        desk.state.leases.get(lease)?.created === undefined ? 0n : desk.record(lease).revision.sequence;
      return desk.run({ kind: "elect", lease, expectedRevision, candidate, coordinator: "co" }, "co").kind;
    };
    expect(elect("a")).not.toBe("held");
    expect(elect("b")).toBe("held");
    desk.run({ kind: "withdrawCandidate", lease, candidate: "a", expectedRevision: undefined }, "a");
    expect(desk.record(lease).pending).toBeUndefined();
    expect(elect("b")).not.toBe("held");
    expect(desk.record(lease).pending?.candidate).toBe("b");
  });

  it("[88] withdraw, and one that is not there is no error", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const withdraw = { kind: "withdrawCandidate", lease, candidate: "a" } as const;
    expect(desk.run({ ...withdraw, expectedRevision: 1n }, "a").kind).toBe("revisionConflict");
    expect(desk.run({ ...withdraw, expectedRevision: undefined }, "a")).toMatchObject({
      kind: "candidateRemoved",
      existed: true,
    });
    expect(desk.record(lease).candidates).toBeUndefined();
    expect(desk.run({ ...withdraw, expectedRevision: undefined }, "a")).toMatchObject({
      existed: false,
      position: undefined,
    });
  });

  it("[89] are collected when expired by the owner's clock; one renewed in between survives", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const { renewal, revision } = known(desk) ?? {};
    const expected = { expectedRevision: revision?.sequence ?? 0n, expectedRenewalRevision: renewal?.sequence ?? 0n };
    const collect = { kind: "collectCandidate", lease, candidate: "a", graceMs: 0, isDependent: false } as const;
    desk.advance(candidateSpec().validityMs);
    expect(desk.run({ ...collect, ...expected }, "gc")).toMatchObject({ isCollected: false });
    desk.advance(1);
    desk.run({ kind: "ackCandidates", answers: [{ lease, candidate: "a", pingNumber: 0n }] }, "a");
    expect(desk.run({ ...collect, ...expected }, "gc")).toMatchObject({ isCollected: false });
    const renewed = { ...expected, expectedRenewalRevision: known(desk)?.renewal.sequence ?? 0n };
    desk.advance(candidateSpec().validityMs + 1);
    expect(desk.run({ ...collect, ...renewed, graceMs: 5_000 }, "gc")).toMatchObject({ isCollected: false });
    expect(desk.run({ ...collect, ...renewed }, "gc")).toMatchObject({ isCollected: true });
    expect(desk.run({ ...collect, ...renewed }, "gc")).toMatchObject({ isCollected: false });
  });

  it("are collected before they expire when what they depend on is gone", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const { renewal, revision } = known(desk) ?? {};
    const expected = { expectedRevision: revision?.sequence ?? 0n, expectedRenewalRevision: renewal?.sequence ?? 0n };
    const collect = { kind: "collectCandidate", lease, candidate: "a", graceMs: 0, isDependent: true } as const;
    expect(desk.run({ ...collect, ...expected }, "gc")).toMatchObject({ isCollected: true });
  });

  it("are limited per lease", () => {
    const desk = new Desk();
    const { settings } = desk.state;
    desk.run(
      { kind: "changeSettings", settings: { ...settings, limits: { ...settings.limits, candidatesPerLease: 1 } } },
      "o",
    );
    register(desk, lease, "a");
    expect(register(desk, lease, "b")).toEqual({ kind: "limitExceeded", limit: "candidatesPerLease", value: 1 });
    expect(register(desk, lease, "a").kind).toBe("candidateChanged");
  });

  it("[108] have a priority until it runs out, which renewing does not put off", () => {
    const desk = new Desk();
    register(desk, lease, "a", {}, { value: 7, expiresAfterMs: 1_000 });
    const value = () => {
      const candidate = known(desk);
      return candidate && priorityOf(candidate, desk.now);
    };
    expect(value()).toBe(7);
    desk.advance(999);
    register(desk, lease, "a");
    expect(value()).toBe(7);
    desk.advance(1);
    expect(value()).toBeUndefined();
    const set = { kind: "setPriority", lease, candidate: "a", expectedRevision: undefined } as const;
    desk.run({ ...set, priority: { value: 9, expiresAfterMs: undefined } }, { principal: "op", reason: "drill" });
    expect(known(desk)?.priority).toMatchObject({ value: 9, author: "op", reason: "drill" });
    desk.advance(1_000_000);
    expect(value()).toBe(9);
    expect(desk.run({ ...set, priority: { value: 0, expiresAfterMs: undefined } }, "op").kind).toBe("invalid");
    desk.run({ ...set, priority: undefined }, "op");
    expect(known(desk)?.priority).toBeUndefined();
    expect(desk.run({ ...set, candidate: "ghost", priority: undefined }, "op").kind).toBe("candidateNotFound");
  });

  it("[61] are not kept alive by what operators say of them", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const { renewal } = known(desk) ?? {};
    desk.advance(1_000);
    const named = { lease, candidate: "a", expectedRevision: undefined } as const;
    desk.run({ kind: "setPriority", ...named, priority: { value: 3, expiresAfterMs: undefined } }, "op");
    desk.run({ kind: "setCordon", ...named, cordon: { expiresAfterMs: undefined } }, "op");
    desk.run({ kind: "setCordon", ...named, cordon: undefined }, "op");
    expect(known(desk)?.renewal).toBe(renewal);
    expect(known(desk)?.priority?.value).toBe(3);
    desk.run({ kind: "updateCandidate", ...named, spec: { zone: "z" } }, "a");
    expect(known(desk)?.renewal.sequence).toBe(desk.sequence);
  });

  it("are cordoned and uncordoned; a cordon keeps its age through renewals", () => {
    const desk = new Desk();
    register(desk, lease, "a");
    const set = { kind: "setCordon", lease, candidate: "a", expectedRevision: undefined } as const;
    expect(desk.run({ ...set, cordon: undefined }, "op")).toMatchObject({
      kind: "candidateChanged",
      position: undefined,
    });
    desk.run({ ...set, cordon: { expiresAfterMs: undefined } }, { principal: "op", reason: "disk" });
    const placed = known(desk)?.cordon?.set;
    desk.advance(10);
    register(desk, lease, "a");
    expect(known(desk)?.cordon).toMatchObject({ author: "op", reason: "disk" });
    expect(known(desk)?.cordon?.set).toBe(placed);
    desk.run({ ...set, cordon: undefined }, "op");
    expect(known(desk)?.cordon).toBeUndefined();
    expect(desk.run({ ...set, candidate: "ghost", cordon: undefined }, "op").kind).toBe("candidateNotFound");
  });
});
