import {
  BeforeImages,
  type Concerns,
  defaultLeaseSpec,
  type Event,
  emptyPartition,
  followBatch,
  type PartitionState,
} from "@tenure/core";
import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import type { AppliedBatch, ChangeSet } from "./change-set.ts";
import { WatchHub, type WatchHubOptions } from "./watch-hub.ts";

function creationOf(sequence: bigint): Event {
  const lease = `a/b-${sequence}`;
  return { kind: "leaseCreated", lease, uid: 1, spec: defaultLeaseSpec, author: "", reason: "" };
}

/** A batch that creates a lease, as a replica would have applied it. */
function created(partition: number, sequence: bigint): AppliedBatch {
  const state = emptyPartition(partition, 0);
  state.before = new BeforeImages();
  const event = creationOf(sequence);
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

  it("makes changes of what is kept and of what concerns a listener alone, and keeps the former", () => {
    const keeps: Concerns = ({ lease }) => lease === "a/b-20";
    const { hub, state } = reading({ keptChanges: 100, keeps });
    const told: string[] = [];
    const onChanges = ({ leases }: ChangeSet) => told.push(...leases.map(({ key }) => key));
    hub.follow({ onChanges, onGap() {} }, { concerns: ({ lease }) => lease === "a/b-30", wantsRenewals: false });
    for (const sequence of [10n, 20n, 30n]) read(hub, state, sequence);
    expect(told).toEqual(["a/b-20", "a/b-30"]);
    expect(hub.revision).toBe(30n);
    expect(hub.laterThan(5n, 0)?.flatMap(({ images }) => [...images.leases.keys()])).toEqual(["a/b-20", "a/b-30"]);
    expect(hub.namesOf(state)).toEqual(["a/b-10", "a/b-20", "a/b-30"]);
  });

  it("keeps nothing where nobody goes on, and yet tells who listens", () => {
    const { hub, state } = reading({ keptChanges: 0 });
    read(hub, state, 10n);
    expect(hub.namesOf(state)).toEqual(["a/b-10"]);
    const told: bigint[] = [];
    const onChanges = ({ sequence }: ChangeSet) => told.push(sequence);
    hub.follow({ onChanges, onGap() {} }, { leases: ["a/b-20"], wantsRenewals: false });
    for (const sequence of [20n, 30n]) read(hub, state, sequence);
    expect([told, hub.revision, hub.floor]).toEqual([[20n], 30n, 30n]);
    expect([hub.changesAfter(29n), hub.laterThan(20n, 0), hub.changesAfter(30n)]).toEqual([undefined, undefined, []]);
    expect(hub.namesOf(state)).toEqual(["a/b-10", "a/b-20", "a/b-30"]);
  });

  it("keeps no past that would not span a moment, and yet tells who listens", async () => {
    const { clock, hub, state } = reading({ keptChanges: 2, leastPastMs: 1_000 });
    const told: bigint[] = [];
    const onChanges = ({ sequence }: ChangeSet) => told.push(sequence);
    hub.follow({ onChanges, onGap: () => told.push(0n) }, { leases: ["a/b-40"], wantsRenewals: false });
    for (const sequence of [10n, 20n]) read(hub, state, sequence);
    expect(hub.changesAfter(5n)?.length).toBe(2);
    await clock.advance(1_000);
    read(hub, state, 30n);
    expect([hub.floor, hub.changesAfter(20n), hub.changesAfter(30n)]).toEqual([30n, undefined, []]);
    read(hub, state, 40n);
    expect([told, hub.revision, hub.floor, hub.laterThan(30n, 0)]).toEqual([[40n], 40n, 40n, undefined]);
    expect([...state.leases.values()].filter(({ shown }) => shown !== undefined)).toEqual([]);
  });

  it("keeps from now on what somebody needs, and everything once less changes", async () => {
    const { clock, hub, state } = reading({ keptChanges: 2, leastPastMs: 1_000 });
    await clock.advance(1_000);
    for (const sequence of [10n, 20n, 30n]) read(hub, state, sequence);
    await clock.advance(1_000);
    read(hub, state, 40n);
    expect(hub.floor).toBe(40n);
    hub.keepPast();
    read(hub, state, 50n);
    expect(hub.laterThan(40n, 0)?.map(({ sequence }) => sequence)).toEqual([50n]);
    await clock.advance(20_000);
    read(hub, state, 60n);
    expect(hub.changesAfter(40n)?.map(({ sequence }) => sequence)).toEqual([50n, 60n]);
  });
});

/** A hub with a state of its own that it keeps track of. */
function reading(options: Pick<WatchHubOptions, "keptChanges" | "keeps" | "leastPastMs">) {
  const clock = new FakeClock();
  const hub = new WatchHub({ clock, partitions: 1, pendingBatches: 1, ...options });
  const state = stateAt(0, 5n);
  hub.onFollowing(state);
  return { clock, hub, state };
}

/** The tail brings a batch that creates a lease. */
function read(hub: WatchHub, state: PartitionState, sequence: bigint): void {
  const events = [creationOf(sequence)];
  const ids = { prev: state.lastSequence, prevBatchId: state.lastBatchId, sequence, batchId: `id-${sequence}` };
  followBatch(state, { partition: 0, epoch: 0n, ...ids, wallMs: 0, events }, 0);
  hub.onApplied({ partition: 0, sequence, events, state });
  hub.onTailed(sequence, true);
}
