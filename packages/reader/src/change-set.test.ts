import { apply, BeforeImages, emptyPartition } from "@tenure/core";
import { expect, it } from "vitest";
import { changesOf } from "./change-set.ts";

const cause = { author: "", reason: "" };
const lease = "shop/api";
const at = (sequence: bigint) => ({ sequence, wallMs: 0, seenAtMs: 0 });

it("leaves a record its copy after a change, and none after a renewal, which nobody keeps", () => {
  const state = emptyPartition(0, 0);
  const before = new BeforeImages();
  state.before = before;
  const changesAt = (sequence: bigint) =>
    changesOf({ partition: 0, sequence, events: [], state }, before, 0, undefined);
  const facts = { holderKey: "", principal: "p", mode: "exclusive", units: 1, origin: "acquired" } as const;
  const hold = { id: 7, token: 3n, holder: "a", leaseDurationMs: 1, lockDelayMs: 0, ...facts };
  apply(state, { kind: "leaseCreated", lease, uid: 1, spec: {} as never, ...cause }, at(2n));
  apply(state, { kind: "holdGranted", lease, hold, transitions: 1, ...cause }, at(2n));
  const [change] = changesAt(2n).leases;
  const record = state.leases.get(lease);
  expect(record?.shown).toBe(change?.after);
  expect(record?.shown).toBeDefined();
  apply(state, { kind: "holdChanged", lease, holdId: 7, leaseDurationMs: 2, ...cause }, at(3n));
  expect(changesAt(3n).leases).toEqual([]);
  expect(record?.shown).toBeUndefined();
});
