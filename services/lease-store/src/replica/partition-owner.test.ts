import { emptyPartition } from "@tenure/core";
import { FakeClock, Fault, seededRandom } from "@tenure/kernel";
import type { CommitOutcome } from "@tenure/log";
import { MemoryLog, MemorySnapshots } from "@tenure/log/memory";
import { describe, expect, it } from "vitest";
import { logCodec } from "../log-codec.ts";
import { type Caller, CommandCall } from "./call.ts";
import { PartitionOwner } from "./partition-owner.ts";
import { claim, usualOptions } from "./testing/world.ts";

const clock = new FakeClock({ startMs: 1_000 });

/** An owner whose appends end one after the other as told. */
function ownerWith(...outcomes: readonly (CommitOutcome | Promise<CommitOutcome>)[]): PartitionOwner {
  return ownerThat({}, ...outcomes);
}

/** The same, with what it does and whom it tells. */
function ownerThat(
  { onCommitted = () => {}, sent = async () => {} }: { onCommitted?: () => void; sent?: () => Promise<void> },
  ...outcomes: readonly (CommitOutcome | Promise<CommitOutcome>)[]
): PartitionOwner {
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
    sent,
  };
  const options = { ...usualOptions, instance: "a" };
  return new PartitionOwner(emptyPartition(0, clock.now()), ports, options, { onCommitted });
}

describe("an owner that has lost a batch", () => {
  it("tells also who asks afterwards that its state shows more than was committed", async () => {
    const owner = ownerWith(
      { kind: "committed", sequence: 1n, sentAtMs: 1_000 },
      { kind: "lost", sequence: 2n, applied: "NO" },
    );
    const ending = owner.run(false, new AbortController().signal);
    const lost = owner.submit(new CommandCall(claim("x", "billing/scheduler"), ({ kind }) => kind)).promise;
    await expect(lost).rejects.toMatchObject({ reason: "OWNER_CHANGED" });
    expect(await ending).toEqual({ kind: "replaced", isClean: false });
    const told: boolean[] = [];
    owner.whenCommitted((isCommitted) => told.push(isCommitted));
    owner.whenCommitted((isCommitted) => told.push(isCommitted), true);
    expect(told).toEqual([false, false]);
  });
});

describe("a batch that is committed", () => {
  it("is answered first, then told to those who follow, and read only after that", async () => {
    const committed = (sequence: bigint) => ({ kind: "committed", sequence, sentAtMs: 1_000 }) as const;
    const done: string[] = [];
    let hasLeft: () => void = () => {};
    let isFirst = true;
    const sent = () => {
      // The first batch answers nobody: it opens the epoch.
      if (isFirst) {
        isFirst = false;
        return Promise.resolve();
      }
      return new Promise<void>((resolve) => {
        hasLeft = resolve;
      });
    };
    const owner = ownerThat({ onCommitted: () => done.push("told"), sent }, committed(1n), committed(2n));
    const stop = new AbortController();
    const ending = owner.run(false, stop.signal);
    const call = new CommandCall(claim("x", "billing/scheduler"), ({ kind }) => kind);
    done.push(await owner.submit(call).promise);
    owner.whenCommitted(() => done.push("read"));
    expect(done).toEqual(["told", "granted"]);
    hasLeft();
    await new Promise<void>((resolve) => owner.whenCommitted(() => resolve()));
    expect(done).toEqual(["told", "granted", "told", "read"]);
    stop.abort();
    await ending;
  });
});

describe("a caller that is no signal", () => {
  it("is listened to only if its call is not answered soon, and then it is heeded", async () => {
    const committed = (sequence: bigint) => ({ kind: "committed", sequence, sentAtMs: 1_000 }) as const;
    let answer: (outcome: CommitOutcome) => void = () => {};
    const hanging = new Promise<CommitOutcome>((resolve) => {
      answer = resolve;
    });
    const owner = ownerWith(committed(1n), committed(2n), hanging);
    const stop = new AbortController();
    const ending = owner.run(false, stop.signal);
    let asked = 0;
    const gone = new Fault({ code: "CANCELLED", reason: "CALL_CANCELLED", message: "gone" });
    const caller: Caller = {
      onAbort(listener) {
        if (listener !== undefined) asked += 1;
        listener?.(gone);
      },
    };
    const claimOf = (lease: string) => new CommandCall(claim("x", lease), ({ kind }) => kind);
    expect([await owner.submit(claimOf("billing/a"), caller).promise, asked]).toEqual(["granted", 0]);
    const late = expect(owner.submit(claimOf("billing/b"), caller).promise).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await clock.advance(250);
    await late;
    expect(asked).toBe(1);
    stop.abort();
    answer(committed(3n));
    await ending;
  });
});
