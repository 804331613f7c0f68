import { describe, expect, it } from "vitest";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { register } from "../testing/candidates.ts";
import { Desk } from "../testing/desk.ts";
import { loadSnapshot } from "./load.ts";
import { positionsOf } from "./positions.ts";
import { takeSnapshot, takeSnapshotInSteps } from "./take.ts";

/** A partition with one of everything that a record can hold. */
function full(): Desk {
  const desk = new Desk();
  const attempt = { clientId: "c", number: 4n, settledBelow: 2n };
  const value = new Uint8Array([7]);
  const participant = { component: "ccm", version: "1.0.0", configurationDigest: "d" };
  const { token } = desk.take("a", "billing/held", {
    attempt,
    claimant: { holder: "a", renewKeyHash: "ff", value, participant },
  });
  const changes = [
    { key: "z", value },
    { key: "b", value },
  ];
  desk.run({ kind: "guard", lease: "billing/held", token, renewKeyHash: "ff", comparisons: [], changes }, "a");
  register(desk, "billing/held", "two", { zone: "eu" }, { value: 3, expiresAfterMs: 9_000 });
  register(desk, "billing/held", "one");
  desk.run({ kind: "pingCandidates", lease: "billing/held", candidates: ["one"], coordinator: "co" }, "co");
  desk.run({ kind: "ackCandidates", answers: [{ lease: "billing/held", candidate: "one", pingNumber: 1n }] }, "one");
  desk.run({ kind: "pingCandidates", lease: "billing/held", candidates: ["two"], coordinator: "co" }, "co");
  const cordon = { kind: "setCordon", lease: "billing/held", candidate: "two", expectedRevision: undefined } as const;
  desk.run({ ...cordon, cordon: { expiresAfterMs: undefined } }, { principal: "op", reason: "why" });
  const at = (lease: string) => desk.record(lease).revision.sequence;
  const decision = { id: "d1", body: value };
  desk.run(
    {
      kind: "markEndOfTerm",
      lease: "billing/held",
      expectedRevision: at("billing/held"),
      token,
      preferredHolder: "one",
      decision,
    },
    "co",
  );
  register(desk, "billing/pending", "one");
  desk.run(
    { kind: "elect", lease: "billing/pending", expectedRevision: 0n, candidate: "one", coordinator: "co" },
    "co",
  );
  desk.take("b", "billing/deleted");
  desk.run({ kind: "delete", lease: "billing/deleted", expectedRevision: undefined, expectedUid: undefined }, "op");
  desk.take("b", "billing/revoked");
  desk.run({ kind: "revoke", lease: "billing/revoked", expectedRevision: at("billing/revoked"), token: 0n }, "op");
  const strategy = { strategy: { kind: "priority", expression: "", vendor: "" }, source: "operator" } as const;
  const conflict = { sides: [{ strategy: strategy.strategy, candidates: ["one"] }] };
  desk.run({ kind: "putStrategy", lease: "billing/strategy", expectedRevision: 0n, strategy, conflict }, "op");
  const eligibility = { configuration: "m", configurationDigest: "d", components: [{ name: "*", versionRange: "" }] };
  desk.run(
    { kind: "putMigration", lease: "billing/lock", expectedRevision: 0n, configuration: value, eligibility },
    "m",
  );
  desk.take("x", "billing/delayed", {
    claim: { spec: { ...defaultLeaseSpec, lockDelayMs: 50_000, labels: { a: "b" } } },
  });
  desk.advance(1_900);
  desk.run({ kind: "expire", lease: "billing/pending" }, "owner");
  desk.advance(20_000);
  desk.run({ kind: "expire", lease: "billing/delayed" }, "owner");
  desk.run({ kind: "expire", lease: "billing/pending" }, "owner");
  desk.run({ kind: "beginRecovery" }, "owner");
  desk.run({ kind: "announceSnapshot", snapshot: { name: "0/1", sequence: 1n, digest: "x", sizeBytes: 1 } }, "owner");
  return desk;
}

/** Changes one of every kind of record in place, and adds and removes names. */
function changeEverything(desk: Desk, round: number): void {
  const lease = "billing/held";
  const [hold] = desk.record(lease).holds;
  desk.renewPacked("a", [hold?.id ?? 0]);
  desk.run({ kind: "pingCandidates", lease, candidates: ["one", "two"], coordinator: "co" }, "co");
  register(desk, lease, `new-${round}`);
  const changes = [{ key: "b", value: new Uint8Array([round]) }];
  const guard = {
    kind: "guard",
    lease,
    token: hold?.token ?? 0n,
    renewKeyHash: "ff",
    comparisons: [],
    changes,
  } as const;
  desk.run(guard, "a");
  const last = desk.take("late", `billing/late-${round}`);
  desk.run({ kind: "release", items: [{ lease: `billing/late-${round}`, token: last.token }] }, "late");
  const many = desk.record(`billing/lease-${round}`).holds[0]?.token ?? 0n;
  desk.run({ kind: "release", items: [{ lease: `billing/lease-${round}`, token: many }] }, "many");
}

describe("snapshots", () => {
  it("hold everything: loaded and taken again they are equal", () => {
    const desk = full();
    const snapshot = takeSnapshot(desk.state);
    expect(takeSnapshot(loadSnapshot(snapshot, 99))).toEqual(snapshot);
    const held = snapshot.leases.find(({ key }) => key === "billing/held");
    expect(held?.candidates.map(({ name }) => name)).toEqual(["one", "two"]);
    expect(held?.guarded.map(({ key }) => key)).toEqual(["b", "z"]);
    expect(snapshot.leases.map(({ key }) => key)).toEqual([...desk.state.leases.keys()].sort());
    expect(snapshot.positions.map(({ sequence }) => sequence)).toEqual(
      [...snapshot.positions.map(({ sequence }) => sequence)].sort((left, right) => Number(left - right)),
    );
  });

  it("loaded, give the state that they were taken of, but for the instants", () => {
    const { state } = full();
    const positions = [...state.leases.values()].flatMap(positionsOf);
    for (const { outcomes } of state.clients.values())
      positions.push(...outcomes.map(({ outcome }) => outcome.position));
    positions.push(state.epochStart, state.recovery?.from);
    for (const position of positions) if (position !== undefined) position.seenAtMs = 99;
    // Which texts are shared and which client was put last is each replica's own business too.
    const own = { texts: undefined, newestClient: undefined };
    expect({ ...loadSnapshot(takeSnapshot(state), 99), ...own }).toEqual({ ...state, ...own });
  });

  it("of two replicas that applied the same batches are equal, whatever their clocks", () => {
    const desk = full();
    expect(takeSnapshot(desk.follower)).toEqual(takeSnapshot(desk.state));
  });

  it("are plain data: no position and no cycle is left in them", () => {
    const text = JSON.stringify(takeSnapshot(full().state), (_, value: unknown) =>
      typeof value === "bigint" ? `${value}n` : value,
    );
    expect(text).not.toContain("seenAtMs");
  });

  it("count every duration from the load (I8)", () => {
    const desk = full();
    const state = loadSnapshot(takeSnapshot(desk.state), 77_000);
    const seen = [...state.leases.values()].flatMap(({ created, holds, revision }) => [
      revision.seenAtMs,
      created?.seenAtMs ?? 77_000,
      ...holds.flatMap(({ granted, renewal }) => [granted.seenAtMs, renewal.seenAtMs]),
    ]);
    expect(new Set(seen)).toEqual(new Set([77_000]));
    expect(state.namespaces).toEqual(desk.state.namespaces);
    expect([...state.holds.keys()].sort()).toEqual([...desk.state.holds.keys()].sort());
  });

  it("taken in steps show the first instant, whatever is applied between the steps", () => {
    const desk = full();
    desk.advance(1_000_000);
    desk.run({ kind: "endRecovery" }, "owner");
    for (let number = 0; number < 2_000; number += 1) desk.take("many", `billing/lease-${number}`);
    const before = takeSnapshot(desk.state);
    const steps = takeSnapshotInSteps(desk.state);
    let count = 0;
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        expect(step.value).toEqual(before);
        break;
      }
      changeEverything(desk, count);
      count += 1;
    }
    expect(count).toBeGreaterThan(10);
    expect(desk.state.still).toBeUndefined();
    expect(takeSnapshot(desk.state)).not.toEqual(before);
    expect(takeSnapshot(desk.follower)).toEqual(takeSnapshot(desk.state));
  });

  it("refuse to load with a position that is not in the table", () => {
    const snapshot = takeSnapshot(new Desk().state);
    expect(() => loadSnapshot({ ...snapshot, epochStart: 40 }, 0)).toThrow("has no position 40");
  });
});
