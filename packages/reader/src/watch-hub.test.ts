import {
  BeforeImages,
  defaultLeaseSpec,
  type Event,
  emptyPartition,
  followBatch,
  type PartitionState,
} from "@tenure/core";
import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import type { AppliedBatch } from "./change-set.ts";
import { WatchHub } from "./watch-hub.ts";

/** A batch that creates a lease, as a replica would have applied it. */
function created(partition: number, sequence: bigint): AppliedBatch {
  const state = emptyPartition(partition, 0);
  state.before = new BeforeImages();
  const lease = `a/b-${sequence}`;
  const event: Event = { kind: "leaseCreated", lease, uid: 1, spec: defaultLeaseSpec, author: "", reason: "" };
  const ids = { prev: 0n, prevBatchId: "", sequence, batchId: "id" };
  followBatch(state, { partition, epoch: 0n, ...ids, wallMs: 0, events: [event] }, 0);
  return { partition, sequence, events: [event], state };
}

function stateAt(partition: number, lastSequence: bigint): PartitionState {
  return { ...emptyPartition(partition, 0), lastSequence };
}

function watched() {
  const clock = new FakeClock();
  const hub = new WatchHub({ clock, partitions: 2, keptChanges: 100, pendingBatches: 3 });
  for (const partition of [0, 1]) hub.onFollowing(stateAt(partition, 5n));
  const told: (bigint | string)[] = [];
  hub.follow(
    {
      onChanges: ({ sequence }) => told.push(sequence),
      onGap: () => told.push("gap"),
      onHalted: (partition) => told.push(`halted ${partition}`),
    },
    { wantsRenewals: false },
  );
  return { clock, hub, told };
}

describe("the hub of watches", () => {
  it("tells what this process committed only when the tail has passed it, in the order of the log", () => {
    const { hub, told } = watched();
    hub.onApplied(created(1, 20n));
    expect(told).toEqual([]);
    hub.onApplied(created(0, 10n));
    hub.onTailed(10n, true);
    hub.onTailed(20n, true);
    expect(told).toEqual([10n, 20n]);
    expect(hub.revision).toBe(20n);
  });

  it("keeps back what follows an append whose answer comes after its message", () => {
    const { hub, told } = watched();
    hub.onTailed(10n, false);
    hub.onApplied(created(0, 20n));
    hub.onTailed(20n, true);
    expect([told, hub.revision]).toEqual([[], 5n]);
    hub.onApplied(created(1, 10n));
    expect([told, hub.revision]).toEqual([[10n, 20n], 20n]);
  });

  it("has everybody start over when the tail stands still for too long, and shows the present when it has come", async () => {
    const { clock, hub, told } = watched();
    for (const sequence of [10n, 20n, 30n, 40n]) hub.onApplied(created(0, sequence));
    expect(told).toEqual(["gap"]);
    expect(hub.changesAfter(39n)).toBeUndefined();
    const reached = hub.reach(0n, 1_000).then(() => "reached");
    await clock.advance(10);
    hub.onTailed(40n, true);
    await expect(reached).resolves.toBe("reached");
    expect(hub.laterThan(40n, 0)).toEqual([]);
  });

  it("tells nothing and moves on in nothing while a partition is loaded, and then has everybody start over", async () => {
    const { clock, hub, told } = watched();
    hub.onLoading(1);
    hub.onApplied(created(0, 10n));
    hub.onTailed(10n, true);
    expect([told, hub.revision]).toEqual([[], 5n]);
    const behind = hub.reach(0n, 1_000).catch((thrown: unknown) => thrown);
    await clock.advance(1_000);
    expect(await behind).toMatchObject({ code: "UNAVAILABLE", reason: "REPLICA_BEHIND" });
    hub.onFollowing(stateAt(1, 8n));
    expect([told, hub.revision, hub.floor]).toEqual([["gap"], 10n, 10n]);
  });

  it("has everybody start over when a message comes that should have come before", () => {
    const { hub, told } = watched();
    hub.onTailed(10n, true);
    hub.onApplied(created(1, 8n));
    hub.onTailed(8n, true);
    expect([told, hub.revision, hub.floor]).toEqual([["gap"], 10n, 10n]);
  });

  it("says of a partition that halted, and goes on with the others", () => {
    const { hub, told } = watched();
    hub.onHalted(1, "its log went back");
    hub.onApplied(created(0, 10n));
    hub.onTailed(10n, true);
    expect(told).toEqual(["halted 1", 10n]);
  });

  it("does not wait for the answer of an append whose partition halted", () => {
    const { hub, told } = watched();
    hub.onTailed(10n, false);
    hub.onApplied(created(0, 20n));
    hub.onTailed(20n, true);
    hub.onHalted(1, "its log went back");
    expect([told, hub.revision]).toEqual([["halted 1", "gap"], 20n]);
    hub.onApplied(created(0, 30n));
    hub.onTailed(30n, true);
    expect([told.at(-1), hub.revision]).toEqual([30n, 30n]);
  });

  it("tells listeners of named leases nothing else", () => {
    const { hub } = watched();
    const told: bigint[] = [];
    const listener = { onChanges: ({ sequence }: { sequence: bigint }) => told.push(sequence), onGap() {} };
    const leave = hub.follow(listener, { leases: ["a/b-20", "a/b-30"], wantsRenewals: false });
    for (const sequence of [10n, 20n, 30n]) {
      hub.onApplied(created(0, sequence));
      hub.onTailed(sequence, true);
    }
    leave();
    expect([told, hub.listeners]).toEqual([[20n, 30n], 1]);
  });
});
