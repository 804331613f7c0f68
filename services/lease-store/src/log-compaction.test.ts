import type { Event, SnapshotReference } from "@tenure/core";
import type { CompactionPlan, CompactionResult } from "@tenure/log";
import { describe, expect, it } from "vitest";
import { LogCompaction } from "./log-compaction.ts";

function snapshot(sequence: bigint): SnapshotReference {
  return { name: `0/${sequence}`, digest: "d", sizeBytes: 1, sequence };
}

function announced(sequence: bigint, isOwn = true) {
  const events: Event[] = [{ kind: "snapshotAnnounced", snapshot: snapshot(sequence), author: "store-1", reason: "" }];
  return { partition: 0, events, isOwn };
}

/** A compaction with a compactor that does what it is told, and tells what it was asked. */
function recorded(answer: () => Promise<CompactionResult> = async () => ({ logMessages: 5, snapshotMessages: 2 })) {
  const plans: CompactionPlan[] = [];
  const told: string[] = [];
  const compaction = new LogCompaction(
    {
      compact: (plan) => {
        plans.push(plan);
        return answer();
      },
    },
    {
      onCompacted: (partition, { logMessages }) => told.push(`${partition}: ${logMessages}`),
      onFault: (_, doing) => told.push(doing),
    },
  );
  return { compaction, plans, told };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const plan = (latest: bigint, previous: bigint, ...outdated: bigint[]) => ({
  partition: 0,
  latest: snapshot(latest),
  previous: snapshot(previous),
  outdated: outdated.map((sequence) => snapshot(sequence).name),
});

describe("the compaction of a partition", () => {
  it("follows each of its owner's snapshots but the first, and removes the ones before the previous", async () => {
    const { compaction, plans, told } = recorded();
    for (const sequence of [10n, 20n, 30n, 40n]) {
      compaction.noteApplied(announced(sequence));
      await settled();
    }
    expect(plans).toEqual([plan(20n, 10n), plan(30n, 20n, 10n), plan(40n, 30n, 20n)]);
    expect(told).toEqual(["0: 5", "0: 5", "0: 5"]);
  });

  it("does nothing for another owner's snapshots, and goes on from them when it owns", async () => {
    const { compaction, plans } = recorded();
    compaction.noteLoaded(0, snapshot(5n));
    compaction.noteApplied(announced(10n, false));
    compaction.noteApplied(announced(20n, false));
    expect(plans).toEqual([]);
    compaction.noteApplied(announced(30n));
    expect(plans).toEqual([plan(30n, 20n, 5n, 10n)]);
  });

  it("begins with the snapshot that a loaded state names", async () => {
    const { compaction, plans } = recorded();
    compaction.noteLoaded(0, snapshot(10n));
    compaction.noteApplied(announced(20n));
    expect(plans).toEqual([plan(20n, 10n)]);
  });

  it("makes a purge that failed good with the next snapshot", async () => {
    let isDown = true;
    const { compaction, plans, told } = recorded(async () => {
      if (isDown) throw new Error("nobody answers");
      return { logMessages: 9, snapshotMessages: 0 };
    });
    for (const sequence of [10n, 20n, 30n]) {
      compaction.noteApplied(announced(sequence));
      await settled();
    }
    isDown = false;
    compaction.noteApplied(announced(40n));
    await settled();
    expect(told).toEqual(["compact the log", "compact the log", "0: 9"]);
    expect(plans.at(-1)).toEqual(plan(40n, 30n, 10n, 20n));
  });

  it("does not begin a second purge of a partition while one is under way", async () => {
    let finish: (result: CompactionResult) => void = () => {};
    const { compaction, plans } = recorded(() => new Promise((resolve) => (finish = resolve)));
    compaction.noteApplied(announced(10n));
    compaction.noteApplied(announced(20n));
    compaction.noteApplied(announced(30n));
    expect(plans).toHaveLength(1);
    finish({ logMessages: 1, snapshotMessages: 0 });
    await settled();
    compaction.noteApplied(announced(40n));
    expect(plans.at(-1)).toEqual(plan(40n, 30n, 10n, 20n));
  });

  it("goes on after a partition was loaded anew while a purge was under way", async () => {
    let finish: (result: CompactionResult) => void = () => {};
    const { compaction, plans } = recorded(() => new Promise((resolve) => (finish = resolve)));
    compaction.noteApplied(announced(10n));
    compaction.noteApplied(announced(20n));
    compaction.noteLoaded(0, snapshot(20n));
    finish({ logMessages: 1, snapshotMessages: 0 });
    await settled();
    compaction.noteApplied(announced(30n));
    expect(plans).toEqual([plan(20n, 10n), plan(30n, 20n, 10n)]);
  });

  it("ignores an announcement that is not newer, and everything after its end", async () => {
    const { compaction, plans } = recorded();
    compaction.noteLoaded(0, snapshot(30n));
    compaction.noteApplied(announced(20n));
    await compaction[Symbol.asyncDispose]();
    compaction.noteApplied(announced(40n));
    expect(plans).toEqual([]);
  });
});
