import { describe, expect, it } from "vitest";
import { emptyPartition } from "../partition/state.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { apply } from "./apply.ts";
import { BeforeImages } from "./before-images.ts";

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

  it("are not made when nobody asked for them", () => {
    const state = emptyPartition(0, 0);
    apply(state, { kind: "leaseCreated", lease, uid: 1, spec: defaultLeaseSpec, ...cause }, at(1n));
    expect(state.before).toBeUndefined();
  });
});
