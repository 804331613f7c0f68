import { describe, expect, it } from "vitest";
import { freeAfterMs, leaseStateOf } from "./lease-state.ts";
import { defaultLeaseSpec } from "./record/lease-spec.ts";
import { register } from "./testing/candidates.ts";
import { Desk } from "./testing/desk.ts";

const lease = "billing/scheduler";

describe("a lease at a glance", () => {
  it("goes through every state", () => {
    const desk = new Desk();
    const at = () => desk.record(lease).revision.sequence;
    const shown = () => [leaseStateOf(desk.record(lease), desk.now), freeAfterMs(desk.record(lease), desk.now)];
    register(desk, lease, "a");
    expect(shown()).toEqual(["absent", 0]);
    desk.run({ kind: "create", lease, spec: { ...defaultLeaseSpec, lockDelayMs: 1_000 } }, "op");
    expect(shown()).toEqual(["free", 0]);
    desk.run({ kind: "elect", lease, expectedRevision: at(), candidate: "a", coordinator: "co" }, "co");
    expect(shown()).toEqual(["pending", 2_000]);
    const token = desk.record(lease).lastToken;
    desk.run({ kind: "accept", lease, candidate: "a", token, claimant: { holder: "a" }, sendNumber: 1n }, "a");
    expect(shown()).toEqual(["held", 16_000]);
    desk.run({ kind: "markEndOfTerm", lease, expectedRevision: at(), token, preferredHolder: "b" }, "co");
    expect(shown()).toEqual(["ending", 16_000]);
    desk.run({ kind: "revoke", lease, expectedRevision: at(), token }, "op");
    expect(shown()).toEqual(["tombstone", 16_000]);
    desk.advance(15_000);
    desk.run({ kind: "expire", lease }, "owner");
    expect(shown()).toEqual(["lockDelay", 1_000]);
    desk.advance(1_000);
    expect(shown()).toEqual(["free", 0]);
    desk.run({ kind: "withdrawCandidate", lease, candidate: "a", expectedRevision: undefined }, "a");
    desk.take("c", lease);
    desk.run({ kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined }, "op");
    expect(shown()).toEqual(["tombstone", 16_000]);
  });
});

describe("history", () => {
  it("is bounded: the oldest lines are dropped, and it says so", () => {
    const desk = new Desk();
    for (let round = 0; round < 20; round++) {
      const { token } = desk.take("a", lease);
      desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    }
    const { history, isHistoryTruncated } = desk.record(lease);
    expect(history).toHaveLength(32);
    expect(isHistoryTruncated).toBe(true);
    expect(history.at(-1)).toMatchObject({ kind: "ended", cause: "released" });
    const sequences = history.map(({ position }) => position.sequence);
    expect(sequences).toEqual([...sequences].sort((left, right) => Number(left - right)));
  });
});
