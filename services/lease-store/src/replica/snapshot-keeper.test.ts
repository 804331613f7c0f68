import {
  defaultLeaseSpec,
  type Event,
  emptyPartition,
  followBatch,
  type PartitionState,
  takeSnapshot,
} from "@tenure/core";
import { type Clock, FakeClock, seededRandom } from "@tenure/kernel";
import { MemorySnapshots } from "@tenure/log/memory";
import { inSteps } from "@tenure/reader";
import { describe, expect, it } from "vitest";
import { logCodec } from "../log-codec.ts";
import type { ReplicaOptions } from "./options.ts";
import type { ReplicaPorts } from "./ports.ts";
import { SnapshotKeeper } from "./snapshot-keeper.ts";
import { quickSettings } from "./testing/world.ts";
import { Turns } from "./turns.ts";

const options: ReplicaOptions = {
  instance: "a",
  incarnationId: "incarnation",
  partitions: 1,
  settings: quickSettings,
  queuedCallsPerPartition: 1,
  commandsPerBatch: 1,
  snapshotAfterBatches: 1_000,
  snapshotAfterBytes: 64_000_000,
  tombstoneRetentionMs: 1,
};

/** A keeper whose pauses between two steps are told. */
function newKeeper(more: Partial<ReplicaOptions> = {}, onPause: () => void = () => {}) {
  const fake = new FakeClock({ startMs: 1_000 });
  const clock: Clock = {
    now: () => fake.now(),
    wall: () => fake.wall(),
    schedule: (delayMs, action) => fake.schedule(delayMs, action),
    sleep: async () => onPause(),
  };
  const snapshots = new MemorySnapshots();
  const unused = () => {
    throw new Error("a keeper does not use the log");
  };
  const ports: ReplicaPorts = {
    clock,
    random: seededRandom(1),
    transport: { tail: unused, readAfter: unused, readLast: unused },
    snapshots,
    codec: logCodec,
    writerOf: unused,
  };
  return { snapshots, keeper: new SnapshotKeeper(ports, { ...options, ...more }, new Turns()) };
}

const idOf = (sequence: bigint) => sequence.toString(16).padStart(32, "0");

/** A partition with as many leases, after one batch for each. */
function partitionOf(leases: number) {
  const state = emptyPartition(0, 0);
  const owner: Event = {
    kind: "ownerChanged",
    epoch: 1n,
    owner: "a",
    previousEpoch: 0n,
    previousOwner: "",
    isHandedOver: false,
    author: "",
    reason: "",
  };
  const header = { partition: 0, epoch: 1n, wallMs: 1 };
  followBatch(state, { ...header, prev: 0n, prevBatchId: "", sequence: 1n, batchId: idOf(1n), events: [owner] }, 0);
  for (let number = 1; number <= leases; number += 1) createLease(state, `billing/lease-${number}`);
  return state;
}

function createLease(state: PartitionState, lease: string): void {
  const prev = state.lastSequence;
  const sequence = prev + 1n;
  const uid = Number(sequence);
  const created: Event = { kind: "leaseCreated", lease, uid, spec: defaultLeaseSpec, author: "ann", reason: "" };
  const ids = { prev, prevBatchId: idOf(prev), sequence, batchId: idOf(sequence) };
  followBatch(state, { partition: 0, epoch: 1n, wallMs: 1, ...ids, events: [created] }, 0);
}

describe("a snapshot keeper", () => {
  it("makes a snapshot of a large state in steps, and it shows the state as it was when it began", async () => {
    const state = partitionOf(3_000);
    const before = takeSnapshot(state);
    let pauses = 0;
    const { keeper, snapshots } = newKeeper({}, () => {
      pauses += 1;
      createLease(state, `billing/late-${pauses}`);
    });
    const reference = await keeper.make(state);
    expect(pauses).toBeGreaterThan(10);
    expect(reference).toMatchObject({ name: "0/3001", sequence: 3_001n });
    const loading = logCodec.decodeSnapshot(await snapshots.get(reference), "incarnation");
    const fakeClock = new FakeClock({ startMs: 0 });
    const read = inSteps(loading, fakeClock);
    await fakeClock.advance(1);
    expect(await read).toEqual(before);
  });

  it("makes a snapshot of a small state without a pause", async () => {
    let pauses = 0;
    const { keeper } = newKeeper({}, () => {
      pauses += 1;
    });
    await keeper.make(partitionOf(100));
    expect(pauses).toBe(0);
  });

  it("asks for a snapshot after enough batches, and for the next one only after that was made", async () => {
    const { keeper } = newKeeper({ snapshotAfterBatches: 3 });
    const note = () => keeper.note(1, undefined);
    expect([note(), note(), note(), note(), note(), note()]).toEqual([false, false, true, false, false, false]);
    const state = partitionOf(1);
    const announced: bigint[] = [];
    const owner = {
      state,
      whenCommitted: (act: (isCommitted: boolean) => void) => act(true),
      announce: ({ sequence }: { readonly sequence: bigint }) => announced.push(sequence),
    };
    await keeper.makeInTurn(owner, () => true);
    expect(announced).toEqual([state.lastSequence]);
    expect([note(), note(), note()]).toEqual([false, false, true]);
  });

  it("spares a large partition snapshots after a few small batches", () => {
    const { keeper } = newKeeper({ snapshotAfterBatches: 3 });
    const latest = { name: "0/1", sequence: 1n, digest: "", sizeBytes: 1_000 };
    expect(Array.from({ length: 10 }, () => keeper.note(0, latest))).toEqual([...Array(9).fill(false), true]);
  });

  it.each([
    { latestBytes: 0, batchBytes: 600_000, batches: 2 },
    { latestBytes: 3_000_000, batchBytes: 600_000, batches: 5 },
    { latestBytes: 90_000_000, batchBytes: 16_000_000, batches: 4 },
  ])(
    "is asked once batches are as large as the last snapshot, within bounds: %o",
    ({ batchBytes, batches, latestBytes }) => {
      const { keeper } = newKeeper();
      const latest = { name: "0/1", sequence: 1n, digest: "", sizeBytes: latestBytes };
      let count = 1;
      while (!keeper.note(batchBytes, latest)) count += 1;
      expect(count).toBe(batches);
    },
  );
});
