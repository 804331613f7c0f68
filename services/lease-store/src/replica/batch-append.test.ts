import { emptyPartition, newExpiryGuard, noteConnectionLost, ownPartition } from "@tenure/core";
import { FakeClock, seededRandom } from "@tenure/kernel";
import { MemoryLog, MemorySnapshots } from "@tenure/log/memory";
import { describe, expect, it } from "vitest";
import { logCodec } from "../log-codec.ts";
import { type Appending, appendBatch } from "./batch-append.ts";
import type { PartitionWriter } from "./ports.ts";
import { usualOptions } from "./testing/world.ts";

const id = (digit: string) => digit.repeat(32);

/** An owner that has read batch 1 of a log that has lost its end since, where another's batch stands there now. */
function astrayOwner(): Appending & { readonly doubts: boolean[] } {
  const clock = new FakeClock({ startMs: 4_000 });
  const log = new MemoryLog({ clock, firstSequence: 1n });
  const options = { ...usualOptions, instance: "a" };
  const { incarnationId } = options;
  const others = { partition: 0, epoch: 2n, batchId: id("b"), prev: 0n, prevBatchId: "", writer: "b", incarnationId };
  log.append(0, logCodec.encodeBatch({ ...others, wallMs: 0, snapshot: undefined, events: [] }), 0n);
  const state = { ...emptyPartition(0, 0), epoch: 1n, lastSequence: 1n, lastBatchId: id("a") };
  const owned = ownPartition(state, 4_000, 0, newExpiryGuard());
  const doubts: boolean[] = [];
  const commit: PartitionWriter["commit"] = async (_payload, _prev, _signal, inDoubt) => {
    const sentAtMs = clock.now();
    doubts.push(inDoubt);
    // The connection drops while it is under way, and a later try of it arrives.
    owned.guard = noteConnectionLost(owned.guard, sentAtMs + 1);
    return { kind: "committed", sequence: 2n, sentAtMs } as const;
  };
  const writer = { commit };
  const transport = log.connect("a");
  const snapshots = new MemorySnapshots();
  const ports = { clock, random: seededRandom(1), transport, snapshots, codec: logCodec, writerOf: () => writer };
  return { owned, ports, options, writer, doubts };
}

describe("an append of an owner whose last batch another has replaced", () => {
  const { signal } = new AbortController();

  it("is made in doubt after an outage alone", async () => {
    const owner = astrayOwner();
    await appendBatch(owner, id("c"), owner.owned.batch, signal);
    await appendBatch(owner, id("d"), owner.owned.batch, signal);
    expect(owner.doubts).toEqual([false, true]);
  });

  it("answers nobody if it was in flight when the connection dropped", async () => {
    const owner = astrayOwner();
    const result = await appendBatch(owner, id("c"), owner.owned.batch, signal);
    expect(result).toMatchObject({ kind: "ended", ending: { kind: "astray" }, fault: { reason: "APPEND_UNKNOWN" } });
  });
});
