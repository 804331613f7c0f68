import { Candidate, Lease } from "@tenure/contracts";
import { defaultLeaseSpec, type Event, emptyPartition, followBatch } from "@tenure/core";
import { describe, expect, it } from "vitest";
import type { AppliedBatch } from "../replica/partition-replica.ts";
import type { Renderer } from "./changes.ts";
import { WatchHub } from "./watch-hub.ts";

const render: Renderer = {
  lease: () => Lease.create(),
  candidate: () => Candidate.create(),
  goneCandidate: () => Candidate.create(),
  transition: () => {
    throw new Error("no lines are written here");
  },
};

/** A batch that creates a lease, as a replica would have applied it. */
function created(partition: number, sequence: bigint, isOwn: boolean): AppliedBatch {
  const state = emptyPartition(partition, 0);
  const event: Event = {
    kind: "leaseCreated",
    lease: `a/b-${sequence}`,
    uid: 1,
    spec: defaultLeaseSpec,
    author: "",
    reason: "",
  };
  followBatch(state, { partition, epoch: 0n, prev: 0n, sequence, wallMs: 0, events: [event] }, 0);
  for (const record of state.leases.values()) record.history = [];
  return { partition, sequence, events: [event], state, isOwn };
}

function watched() {
  const hub = new WatchHub(render, { keptChanges: 100, pendingBatches: 3 });
  const told: (bigint | "gap")[] = [];
  hub.follow({
    wantsRenewals: false,
    onChanges: ({ sequence }) => told.push(sequence),
    onGap: () => told.push("gap"),
  });
  return { hub, told };
}

describe("the hub of watches", () => {
  it("tells what this replica committed only when the tail has passed it, in the order of the log", () => {
    const { hub, told } = watched();
    hub.onApplied(created(1, 20n, true));
    expect(told).toEqual([]);
    hub.onApplied(created(0, 10n, false));
    hub.onTailed(10n, true);
    hub.onTailed(20n, true);
    expect(told).toEqual([10n, 20n]);
    expect(hub.revision).toBe(20n);
  });

  it("keeps back what follows an append whose answer comes after its message", () => {
    const { hub, told } = watched();
    hub.onTailed(10n, false);
    hub.onApplied(created(0, 20n, false));
    hub.onTailed(20n, true);
    expect([told, hub.revision]).toEqual([[], 0n]);
    hub.onApplied(created(1, 10n, true));
    expect([told, hub.revision]).toEqual([[10n, 20n], 20n]);
  });

  it("has watches start over when the tail stands still for too long, or a partition was loaded anew", () => {
    const { hub, told } = watched();
    for (const sequence of [10n, 20n, 30n, 40n]) hub.onApplied(created(0, sequence, true));
    expect(told).toEqual(["gap"]);
    expect(hub.changesAfter(39n)).toBeUndefined();
    hub.onReloaded();
    expect(told).toEqual(["gap", "gap"]);
  });
});
