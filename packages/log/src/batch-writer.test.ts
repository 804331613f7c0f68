import { setMaxListeners } from "node:events";
import { FakeClock, seededRandom } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AppendOutcome } from "./append-channel.ts";
import { BatchWriter, type BatchWriterOptions, type CommitOutcome, type CommitTrouble } from "./batch-writer.ts";
import type { LogTransport } from "./log-transport.ts";
import { type AppendFault, ghost, MemoryLog, type MemoryTransport, randomFaults } from "./memory/index.ts";

const timeoutMs = 2_000;
const text = (words: string): Uint8Array => new TextEncoder().encode(words);
const batchIdOf = (payload: Uint8Array): string => new TextDecoder().decode(payload);

/** A log whose next appends go as told; those after go right. */
function setUp(...faults: readonly AppendFault[]) {
  const clock = new FakeClock();
  const queue = [...faults];
  const log = new MemoryLog({
    clock,
    faults: { onAppend: () => queue.shift() ?? { kind: "delayed", requestMs: 1, replyMs: 1 } },
  });
  return { clock, log, transport: log.connect("writer") };
}

function writerOn(
  transport: Pick<LogTransport, "append" | "readAfter">,
  clock: FakeClock,
  more: Partial<BatchWriterOptions> = {},
) {
  const troubles: CommitTrouble[] = [];
  const counts = { unknown: 0 };
  const writer = new BatchWriter(transport, {
    partition: 0,
    clock,
    random: seededRandom(1),
    requestTimeoutMs: timeoutMs,
    batchIdOf,
    onTrouble: (trouble) => troubles.push(trouble),
    onUnknown: () => {
      counts.unknown += 1;
    },
    ...more,
  });
  return { writer, troubles, counts };
}

/** Lets time pass until the commit is settled. */
async function settled(clock: FakeClock, commit: Promise<CommitOutcome>): Promise<CommitOutcome> {
  let isSettled = false;
  const noted = commit.finally(() => {
    isSettled = true;
  });
  noted.catch(() => undefined);
  for (let turn = 0; turn < 1_000 && !isSettled; turn += 1) await clock.advance(100);
  return noted;
}

const never = new AbortController().signal;
setMaxListeners(0, never); // Every writer of these tests has it.

describe("BatchWriter", () => {
  it("commits at once when all goes right", async () => {
    const { clock, transport } = setUp();
    const { counts, troubles, writer } = writerOn(transport, clock);
    expect(await settled(clock, writer.commit(text("a"), 0n, never))).toEqual({
      kind: "committed",
      sequence: 1n,
      sentAtMs: 0,
    });
    expect([counts.unknown, troubles]).toEqual([0, []]);
  });

  it.each<[string, AppendFault]>([
    ["the answer was lost", { kind: "lostReply", requestMs: 1 }],
    ["the request was lost", { kind: "lostRequest" }],
    ["a ghost is applied just after the timeout", ghost(timeoutMs, 1)],
    ["a ghost is applied long after", ghost(timeoutMs, 60_000)],
  ])("commits exactly once, counted from the first send, when %s", async (_, fault) => {
    const { clock, log, transport } = setUp(fault);
    const { counts, writer } = writerOn(transport, clock);
    const outcome = await settled(clock, writer.commit(text("a"), 0n, never));
    await clock.advance(120_000);
    expect(outcome).toEqual({ kind: "committed", sequence: 1n, sentAtMs: 0 });
    expect(log.messages(0).map(({ payload }) => batchIdOf(payload))).toEqual(["a"]);
    expect(counts.unknown).toBe(1);
  });

  it("loses at once, applied NO, when another's message stands there", async () => {
    const { clock, log, transport } = setUp();
    log.append(0, text("other"), 0n);
    const { counts, writer } = writerOn(transport, clock);
    const outcome = await settled(clock, writer.commit(text("a"), 0n, never));
    expect(outcome).toEqual({ kind: "lost", sequence: 1n, applied: "NO" });
    expect(counts.unknown).toBe(0);
  });

  it("loses, applied NO, when another's message stands where its own of unknown outcome should", async () => {
    const { clock, log, transport } = setUp({ kind: "lostRequest" });
    const { writer } = writerOn(transport, clock);
    const commit = writer.commit(text("a"), 0n, never);
    await clock.advance(1_000);
    log.append(0, text("other"), 0n);
    expect(await settled(clock, commit)).toEqual({ kind: "lost", sequence: 1n, applied: "NO" });
  });

  it("loses, applied UNKNOWN, when what followed is purged before it could look", async () => {
    const { clock, log, transport } = setUp({ kind: "lostReply", requestMs: 1 });
    const { writer } = writerOn(transport, clock);
    const commit = writer.commit(text("a"), 0n, never);
    await clock.advance(1_000);
    log.append(0, text("next owner's"), 1n);
    log.purge(0, 2n);
    expect(await settled(clock, commit)).toEqual({ kind: "lost", sequence: 2n, applied: "UNKNOWN" });
  });

  it("does not take an absence for a proof: it goes on until the log shows something", async () => {
    const { clock, transport } = setUp({ kind: "lostRequest" }, { kind: "lostRequest" }, { kind: "lostRequest" });
    const { counts, troubles, writer } = writerOn(transport, clock);
    expect(await settled(clock, writer.commit(text("a"), 0n, never))).toMatchObject({ kind: "committed" });
    expect(troubles.map(({ refusal, tries, isUnknown }) => [refusal, tries, isUnknown])).toEqual([
      ["Ambiguous", 1, true],
      ["Ambiguous", 2, true],
      ["Ambiguous", 3, true],
    ]);
    expect(counts.unknown).toBe(1);
  });

  it("tries again after a refusal that applied nothing, without calling the outcome unknown", async () => {
    const refusals = (["Busy", "Unavailable", "Full"] as const).map(
      (refusal) => ({ kind: "refused", refusal }) as const,
    );
    const { clock, transport } = setUp(...refusals);
    const { counts, troubles, writer } = writerOn(transport, clock);
    expect(await settled(clock, writer.commit(text("a"), 0n, never))).toMatchObject({ kind: "committed" });
    expect(troubles.map(({ refusal, isUnknown }) => `${refusal} ${isUnknown}`)).toEqual([
      "Busy false",
      "Unavailable false",
      "Full false",
    ]);
    expect(counts.unknown).toBe(0);
  });

  it("goes on through a failover and a cut connection", async () => {
    const { clock, log, transport } = setUp();
    const { writer } = writerOn(transport, clock);
    log.failOver(7_000);
    const commit = writer.commit(text("a"), 0n, never);
    await clock.advance(3_000);
    transport.cut();
    await clock.advance(3_000);
    transport.heal();
    expect(await settled(clock, commit)).toEqual({ kind: "committed", sequence: 1n, sentAtMs: 0 });
    expect(clock.now()).toBeGreaterThanOrEqual(7_000);
  });

  it("does not believe a conflict that names an older sequence than it expects", async () => {
    const { clock, log, transport } = setUp();
    log.append(0, text("first"), 0n);
    const deposed: AppendOutcome = { kind: "refused", refusal: "Conflict", description: "", lastSequence: 0n };
    const answers: (AppendOutcome | undefined)[] = [deposed, deposed];
    const { writer } = writerOn(
      {
        append: async (request) => answers.shift() ?? transport.append(request),
        readAfter: (partition, sequence) => transport.readAfter(partition, sequence),
      },
      clock,
    );
    expect(await settled(clock, writer.commit(text("a"), 1n, never))).toMatchObject({
      kind: "committed",
      sequence: 2n,
    });
  });

  it("does not append to a log that went back and has grown again", async () => {
    const { clock, log, transport } = setUp();
    log.append(0, text("first"), 0n);
    log.append(0, text("second"), 1n);
    log.lose(1n);
    const prevBatchIdOf = () => "second";
    const { writer } = writerOn(transport, clock, { prevBatchIdOf });
    const commit = writer.commit(text("a"), 2n, never);
    await clock.advance(1_000);
    log.append(0, text("another"), 1n);
    expect(await settled(clock, commit)).toEqual({ kind: "astray", sequence: 2n, applied: "NO" });
    expect(log.messages(0)).toHaveLength(2);
  });

  it("looks before it appends at all when it is in doubt, and again after each try that settled nothing", async () => {
    const { clock, log, transport } = setUp({ kind: "lostRequest" });
    log.append(0, text("first"), 0n);
    const { writer } = writerOn(transport, clock, { prevBatchIdOf: () => "first" });
    const replaced = writerOn(transport, clock, { prevBatchIdOf: () => "second" });
    const astray = { kind: "astray", sequence: 1n, applied: "NO" };
    expect(await settled(clock, replaced.writer.commit(text("b"), 1n, never, true))).toEqual(astray);
    const commit = writer.commit(text("a"), 1n, never, true);
    await clock.advance(timeoutMs / 2);
    log.lose(0n);
    log.append(0, text("another"), 0n);
    expect(await settled(clock, commit)).toEqual({ kind: "astray", sequence: 1n, applied: "UNKNOWN" });
    expect(log.messages(0).map(({ payload }) => batchIdOf(payload))).toEqual(["another"]);
  });

  it("has nothing to look at before the first batch of a log", async () => {
    const { clock, transport } = setUp();
    const { writer } = writerOn(transport, clock, { prevBatchIdOf: () => "" });
    expect(await settled(clock, writer.commit(text("a"), 0n, never, true))).toMatchObject({ kind: "committed" });
  });

  it("goes on after a deposed leader when the log shows the batch before", async () => {
    const { clock, log, transport } = setUp();
    log.append(0, text("first"), 0n);
    const deposed: AppendOutcome = { kind: "refused", refusal: "Conflict", description: "", lastSequence: 0n };
    const answers: (AppendOutcome | undefined)[] = [deposed];
    const readAfter = (partition: number, sequence: bigint) => transport.readAfter(partition, sequence);
    const append: typeof transport.append = async (request) => answers.shift() ?? transport.append(request);
    const { writer } = writerOn({ append, readAfter }, clock, { prevBatchIdOf: () => "first" });
    expect(await settled(clock, writer.commit(text("a"), 1n, never))).toMatchObject({ kind: "committed" });
  });

  it("ends with the signal's reason, at once", async () => {
    const { clock, transport } = setUp({ kind: "lostRequest" });
    const { writer } = writerOn(transport, clock);
    const ending = new AbortController();
    const commit = writer.commit(text("a"), 0n, ending.signal);
    await clock.advance(10);
    ending.abort(new Error("stopping"));
    await expect(commit).rejects.toThrow("stopping");
    await expect(writer.commit(text("b"), 0n, ending.signal)).rejects.toThrow("stopping");
  });

  it("makes one chain of two writers under every fault, and tells each the truth", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), async (seed) => {
        const clock = new FakeClock();
        const random = seededRandom(seed);
        const rates = {
          ghosts: 0.1,
          lostRequests: 0.1,
          lostReplies: 0.15,
          refusals: 0.15,
          staleReads: 0.3,
          mostDelayMs: 60,
        };
        const log = new MemoryLog({ clock, faults: randomFaults(random, rates) });
        const ending = new AbortController();
        const runs = ["left", "right"].map((name) => writeBatches(log.connect(name), name, clock, ending.signal));
        for (let turn = 0; turn < 150; turn += 1) {
          await clock.advance(100);
          if (random.next() < 0.02) log.failOver(random.next() * 3_000);
        }
        ending.abort(new Error("enough"));
        await clock.advance(10_000);
        const reports = (await Promise.all(runs)).flat();
        const inLog = new Map(log.messages(0).map(({ payload, sequence }) => [batchIdOf(payload), sequence]));
        expect(inLog.size).toBe(log.messages(0).length);
        for (const { id, outcome } of reports) {
          expect(inLog.get(id)).toBe(outcome.kind === "committed" ? outcome.sequence : undefined);
        }
        expect(reports.some(({ outcome }) => outcome.kind === "committed")).toBe(true);
      }),
      { numRuns: 25 },
    );
  });
});

/** Commits batch after batch; when it loses it goes on from what stands there. */
async function writeBatches(transport: MemoryTransport, name: string, clock: FakeClock, signal: AbortSignal) {
  const { writer } = writerOn(transport, clock);
  const reports: { id: string; outcome: CommitOutcome }[] = [];
  let prev = 0n;
  try {
    for (let number = 0; ; number += 1) {
      const id = `${name}-${number}`;
      const outcome = await writer.commit(text(id), prev, signal);
      reports.push({ id, outcome });
      prev = outcome.sequence;
      if (outcome.kind === "lost") await clock.sleep(50, signal);
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
  return reports;
}
