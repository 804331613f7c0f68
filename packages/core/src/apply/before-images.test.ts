import { describe, expect, it } from "vitest";
import { emptyPartition } from "../partition/state.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { apply } from "./apply.ts";
import { BeforeImages, copyOfLease } from "./before-images.ts";

const cause = { author: "", reason: "" };
const at = (sequence: bigint) => ({ sequence, wallMs: 0, seenAtMs: 0 });
const lease = "shop/api";

/** A state that keeps images, with one lease that exists. */
function withLease() {
  const state = emptyPartition(0, 0);
  const before = new BeforeImages();
  state.before = before;
  apply(state, { kind: "leaseCreated", lease, uid: 1, spec: defaultLeaseSpec, ...cause }, at(1n));
  return { state, before };
}

describe("images of what was before a batch", () => {
  it("say that nothing was there, and later what the first event of a batch met", () => {
    const { before, state } = withLease();
    expect(before.take().leases).toEqual(new Map([[lease, undefined]]));
    const spec = { ...defaultLeaseSpec, labels: { tier: "gold" } };
    apply(state, { kind: "leaseUpdated", lease, spec, ...cause }, at(2n));
    apply(state, { kind: "leaseUpdated", lease, spec: defaultLeaseSpec, ...cause }, at(2n));
    const image = before.take().leases.get(lease);
    expect([image?.revision.sequence, image?.spec]).toEqual([1n, defaultLeaseSpec]);
    expect(before.take().leases.size).toBe(0);
  });

  it("keep a candidate that is removed", () => {
    const { before, state } = withLease();
    const candidate = { name: "a", ...at(1n) };
    const record = state.leases.get(lease);
    if (record === undefined) throw new Error("the lease is there");
    record.candidates = new Map([["a", candidate as never]]);
    apply(state, { kind: "candidateRemoved", lease, candidate: "a", removal: "withdrawn", ...cause }, at(2n));
    expect(record.candidates).toBeUndefined();
    expect(before.take().candidates.get(lease)?.get("a")).toEqual(candidate);
  });

  /** A lease that is held, and was shown since. */
  function shown() {
    const { before, state } = withLease();
    const facts = { holderKey: "", principal: "p", mode: "exclusive", units: 1, origin: "acquired" } as const;
    const hold = { id: 7, token: 3n, holder: "a", leaseDurationMs: 1, lockDelayMs: 0, ...facts };
    apply(state, { kind: "holdGranted", lease, hold, transitions: 1, ...cause }, at(2n));
    before.take();
    const record = state.leases.get(lease);
    if (record === undefined) throw new Error("the lease is there");
    const copy = copyOfLease(record);
    record.shown = copy;
    return { before, record, state, copy };
  }
  const changed = { kind: "leaseUpdated", lease, spec: defaultLeaseSpec, ...cause } as const;

  it("are what was shown last, as long as nothing has changed since", () => {
    const { before, copy, record, state } = shown();
    apply(state, changed, at(3n));
    expect(record.shown).toBeUndefined();
    expect(before.take().leases.get(lease)).toBe(copy);
    const later = copyOfLease(record);
    apply(state, changed, at(4n));
    expect(before.take().leases.get(lease)).toEqual(later);
  });

  it("are no older than the last renewal, which is noted by nobody", () => {
    const { before, copy, record, state } = shown();
    apply(state, { kind: "renewed", holdIds: [7], sendNumber: 1n, ...cause }, at(3n));
    const renewed = copyOfLease(record);
    apply(state, changed, at(4n));
    const image = before.take().leases.get(lease);
    expect(image).toEqual(renewed);
    expect([image?.holds[0]?.renewal.sequence, copy.holds[0]?.renewal.sequence]).toEqual([3n, 2n]);
  });

  it("are no older than what was changed while none were made", () => {
    const { before, copy, record, state } = shown();
    state.before = undefined;
    apply(state, changed, at(3n));
    expect(record.shown).toBe(copy);
    state.before = before;
    apply(state, changed, at(4n));
    expect(before.take().leases.get(lease)?.revision.sequence).toBe(3n);
  });

  it("are not made when nobody asked for them", () => {
    const state = emptyPartition(0, 0);
    apply(state, { kind: "leaseCreated", lease, uid: 1, spec: defaultLeaseSpec, ...cause }, at(1n));
    expect(state.before).toBeUndefined();
  });
});
