import { emptyPartition } from "@tenure/core";
import { FakeClock, seededRandom } from "@tenure/kernel";
import type { CommitOutcome } from "@tenure/log";
import { MemoryLog, MemorySnapshots } from "@tenure/log/memory";
import { describe, expect, it } from "vitest";
import { logCodec } from "../log-codec.ts";
import { CommandCall } from "./call.ts";
import { PartitionOwner } from "./partition-owner.ts";
import { claim, usualOptions } from "./testing/world.ts";

/** An owner whose appends end one after the other as told. */
function ownerWith(...outcomes: readonly CommitOutcome[]): PartitionOwner {
  const clock = new FakeClock({ startMs: 1_000 });
  const left = [...outcomes];
  const commit = async () => {
    const outcome = left.shift();
    if (outcome === undefined) throw new Error("an append that the test does not know");
    return outcome;
  };
  const ports = {
    clock,
    random: seededRandom(1),
    transport: new MemoryLog({ clock, firstSequence: 1n }).connect("a"),
    snapshots: new MemorySnapshots(),
    codec: logCodec,
    writerOf: () => ({ commit }),
  };
  const options = { ...usualOptions, instance: "a" };
  return new PartitionOwner(emptyPartition(0, clock.now()), ports, options, { onCommitted: () => {} });
}

describe("an owner that has lost a batch", () => {
  it("tells also who asks afterwards that its state shows more than was committed", async () => {
    const owner = ownerWith(
      { kind: "committed", sequence: 1n, sentAtMs: 1_000 },
      { kind: "lost", sequence: 2n, applied: "NO" },
    );
    const ending = owner.run(false, new AbortController().signal);
    const lost = owner.submit(new CommandCall(claim("x", "billing/scheduler"), ({ kind }) => kind));
    await expect(lost).rejects.toMatchObject({ reason: "OWNER_CHANGED" });
    expect(await ending).toEqual({ kind: "replaced", isClean: false });
    const told: boolean[] = [];
    owner.whenCommitted((isCommitted) => told.push(isCommitted));
    owner.whenCommitted((isCommitted) => told.push(isCommitted), true);
    expect(told).toEqual([false, false]);
  });
});
