import { emptyPartition, newExpiryGuard, noteConnectionLost, ownPartition } from "@tenure/core";
import { FakeClock, seededRandom } from "@tenure/kernel";
import { MemoryLog, MemorySnapshots } from "@tenure/log/memory";
import { describe, expect, it } from "vitest";
import { logCodec } from "../log-codec.ts";
import { type Appending, appendBatch } from "./batch-append.ts";
import { usualOptions } from "./testing/world.ts";

const id = (digit: string) => digit.repeat(32);

/** An owner that has read batch 1 of a log that has lost its end since, where another's batch stands there now. */
function astrayOwner(droppedAtMs: number, sentAtMs: number): Appending {
  const clock = new FakeClock({ startMs: 4_000 });
  const log = new MemoryLog({ clock, firstSequence: 1n });
  const options = { ...usualOptions, instance: "a" };
  const { incarnationId } = options;
  const others = { partition: 0, epoch: 2n, batchId: id("b"), prev: 0n, prevBatchId: "", writer: "b", incarnationId };
  log.append(0, logCodec.encodeBatch({ ...others, wallMs: 0, snapshot: undefined, events: [] }), 0n);
  const state = { ...emptyPartition(0, 0), epoch: 1n, lastSequence: 1n, lastBatchId: id("a") };
  const guard = noteConnectionLost(newExpiryGuard(), droppedAtMs);
  const writer = { commit: async () => ({ kind: "committed", sequence: 2n, sentAtMs }) as const };
  const transport = log.connect("a");
  const snapshots = new MemorySnapshots();
  const ports = { clock, random: seededRandom(1), transport, snapshots, codec: logCodec, writerOf: () => writer };
  return { owned: ownPartition(state, 4_000, 0, guard), ports, options, writer };
}

describe("the first append that is acknowledged after an outage", () => {
  it.each([
    ["was sent when the connection was back", 2_000, 3_900],
    ["was in flight when the connection dropped, and arrived with a later try", 3_000, 2_900],
  ])("answers nobody if it follows another batch than was read, though it %s", async (_, droppedAtMs, sentAtMs) => {
    const owner = astrayOwner(droppedAtMs, sentAtMs);
    const result = await appendBatch(owner, id("c"), owner.owned.batch, new AbortController().signal);
    expect(result).toMatchObject({ kind: "ended", ending: { kind: "astray" }, fault: { reason: "APPEND_UNKNOWN" } });
  });
});
