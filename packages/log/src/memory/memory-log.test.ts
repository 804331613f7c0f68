import { FakeClock, seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { TailWitness } from "../contract/index.ts";
import { randomFaults } from "./faults.ts";
import { MemoryLog } from "./memory-log.ts";
import { MemoryCompactor, MemorySnapshots } from "./memory-snapshots.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("the log in memory", () => {
  it("applies a ghost with what was sent, whatever becomes of its sender", async () => {
    const clock = new FakeClock();
    const log = new MemoryLog({ clock, faults: { onAppend: () => ({ kind: "delayed", requestMs: 500, replyMs: 0 }) } });
    const transport = log.connect("a");
    const payload = bytes("sent");
    const outcome = transport.append({ partition: 0, payload, prev: 0n, timeoutMs: 100 });
    payload.fill(0);
    await clock.advance(100);
    expect(await outcome).toMatchObject({ refusal: "Ambiguous", description: "no answer within 100 ms" });
    transport[Symbol.dispose]();
    expect(log.messages(0)).toEqual([]);
    await clock.advance(400);
    expect(log.messages(0).map((message) => new TextDecoder().decode(message.payload))).toEqual(["sent"]);
  });

  it("makes what is in flight ambiguous when the client is cut off, and refuses until it is healed", async () => {
    const clock = new FakeClock();
    const log = new MemoryLog({ clock });
    const transport = log.connect("a");
    const request = { partition: 0, payload: bytes("x"), prev: 0n, timeoutMs: 100 };
    const inFlight = transport.append(request);
    transport.cut();
    expect(await inFlight).toMatchObject({ refusal: "Ambiguous" });
    expect(await transport.append(request)).toMatchObject({ refusal: "Unavailable" });
    await expect(transport.readAfter(0, 0n)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    transport.heal();
    await clock.advance(1);
    expect((await transport.readAfter(0, 0n))?.sequence).toBe(1n);
    expect(clock.pendingTimers).toBe(0);
  });

  it("delivers nothing during a failover and everything after it, in order", async () => {
    const clock = new FakeClock();
    const log = new MemoryLog({ clock });
    const witness = new TailWitness(log.connect("a"), new Map([[0, 0n]]));
    await clock.advance(1);
    expect(witness.tail.liveSinceMs).toBe(0);
    log.failOver(5_000);
    log.append(0, bytes("x"), 0n);
    log.append(0, bytes("y"), 1n);
    await clock.advance(4_999);
    expect([witness.messages.length, witness.tail.liveSinceMs]).toEqual([0, undefined]);
    await clock.advance(1);
    expect([witness.sequences(0), witness.tail.liveSinceMs]).toEqual([[1n, 2n], 5_001]);
  });

  it("loses its end and gives the sequences again, which an audit of a tail notices", async () => {
    const clock = new FakeClock();
    const log = new MemoryLog({ clock, auditPace: { intervalMs: 1_000, confirmMs: 500 } });
    const wentBack: unknown[] = [];
    const transport = log.connect("a");
    const tail = transport.tail(new Map([[0, 0n]]), {
      onMessage: () => {},
      onCaughtUp: () => {},
      onReset: () => {},
      onWentBack: (...facts) => wentBack.push(facts),
    });
    for (const prev of [0n, 1n, 2n]) log.append(0, bytes("x"), prev);
    await clock.advance(10);
    log.lose(1n);
    expect(log.messages(0).map(({ sequence }) => sequence)).toEqual([1n]);
    await clock.advance(1_400);
    expect(wentBack).toEqual([]);
    await clock.advance(200);
    expect(wentBack).toEqual([[0, 1n, 3n]]);
    expect(log.append(0, bytes("y"), 1n)).toEqual({ kind: "acked", sequence: 2n });
    await tail[Symbol.asyncDispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("runs the same from the same seed, and another way from another", async () => {
    const run = async (seed: number): Promise<string> => {
      const clock = new FakeClock();
      const rates = {
        ghosts: 0.2,
        lostRequests: 0.2,
        lostReplies: 0.2,
        refusals: 0.1,
        staleReads: 0.2,
        mostDelayMs: 50,
      };
      const log = new MemoryLog({ clock, faults: randomFaults(seededRandom(seed), rates) });
      const transport = log.connect("a");
      const witness = new TailWitness(transport, new Map([[0, 0n]]));
      const outcomes: unknown[] = [];
      for (let number = 0; number < 20; number += 1) {
        const prev = log.messages(0).at(-1)?.sequence ?? 0n;
        const append = transport.append({ partition: 0, payload: bytes(String(number)), prev, timeoutMs: 100 });
        await clock.advance(100);
        outcomes.push(await append);
      }
      const seen = witness.messages.map(({ sequence, payload }) => [sequence, ...payload]);
      return JSON.stringify([outcomes, seen], (_, value) => (typeof value === "bigint" ? String(value) : value));
    };
    expect(await run(5)).toBe(await run(5));
    expect(await run(5)).not.toBe(await run(6));
  });

  it("forgets what the next append must expect when the last message is purged, as JetStream does", () => {
    const log = new MemoryLog({ clock: new FakeClock() });
    log.append(0, bytes("x"), 0n);
    expect(log.purge(0, 2n)).toBe(1);
    expect(log.append(0, bytes("y"), 0n)).toEqual({ kind: "acked", sequence: 2n });
  });
});

describe("the compactor in memory", () => {
  it("purges strictly below the previous snapshot and removes older ones, and refuses an unsafe plan", async () => {
    const log = new MemoryLog({ clock: new FakeClock() });
    const snapshots = new MemorySnapshots();
    for (let prev = 0n; prev < 9n; prev += 1n) log.append(0, bytes("x"), prev);
    const take = async (sequence: bigint) => ({ ...(await snapshots.put(`0/${sequence}`, bytes("s"))), sequence });
    const [oldest, previous, latest] = [await take(2n), await take(5n), await take(8n)];
    const compactor = new MemoryCompactor(log, snapshots);
    const plan = { partition: 0, previous, latest, outdated: [oldest.name] };
    await expect(compactor.compact({ ...plan, latest: previous })).rejects.toMatchObject({
      reason: "COMPACTION_UNSAFE",
    });
    await expect(compactor.compact({ ...plan, outdated: [latest.name] })).rejects.toMatchObject({
      reason: "COMPACTION_UNSAFE",
    });
    expect(await compactor.compact(plan)).toEqual({ logMessages: 4, snapshotMessages: 1 });
    expect(log.messages(0).map(({ sequence }) => sequence)).toEqual([5n, 6n, 7n, 8n, 9n]);
    expect(snapshots.names).toEqual(["0/5", "0/8"]);
  });
});
