import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { type Heap, type HeapGrowth, keepHeapSmall } from "./heap.ts";

/** Longer than it takes to notice how busy the process is, and to close a heap up. */
const aWhileMs = 15_000;
const aMomentMs = 3_000;
const mebibyte = 2 ** 20;

function heapUnderWatch(growth?: HeapGrowth) {
  const flags: string[] = [];
  const seen = { bytes: 0, utilization: 0 };
  const heap: Heap = {
    get bytes() {
      return seen.bytes;
    },
    takeUtilization: () => seen.utilization,
    setFlag: (flag) => flags.push(flag),
  };
  const clock = new FakeClock();
  const keeping = keepHeapSmall(clock, growth, heap);
  const pass = async (utilization: number, mebibytes: number, forMs: number) => {
    Object.assign(seen, { bytes: mebibytes * mebibyte, utilization });
    await clock.advance(forMs);
    return flags.splice(0);
  };
  const busy = (size: number) => pass(0.6, size, aMomentMs);
  const rest = (size: number, forMs = aWhileMs) => pass(0.01, size, forMs);
  return { clock, flags, keeping, busy, rest };
}

const fast = ["--no-optimize-for-size", "--incremental-marking"];
const closingUp = ["--optimize-for-size", "--incremental-marking"];
const kept = ["--no-optimize-for-size", "--no-incremental-marking"];

describe("keeping the heap small", () => {
  it("goes on looking how busy the process is until it is stopped", async () => {
    const { clock, keeping } = heapUnderWatch();
    await clock.advance(10_000);
    expect(clock.pendingTimers).toBe(1);
    keeping[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("closes the heap up when it has grown and rests, and only then", async () => {
    const { busy, rest } = heapUnderWatch();
    expect(await busy(100)).toEqual(fast);
    expect(await rest(100)).toEqual(closingUp);
    expect(await rest(100)).toEqual([]);
  });

  it("has V8 keep what it compiled in the next rest, unless the heap has grown by more than a quarter", async () => {
    const { busy, rest } = heapUnderWatch();
    await rest(80);
    await busy(100);
    expect(await rest(100)).toEqual(kept);
    expect(await busy(101)).toEqual(fast);
    expect(await rest(101)).toEqual(closingUp);
    await busy(101);
    expect(await rest(101)).toEqual(kept);
  });

  it("tries again in the next rest when one was too short for it", async () => {
    const { busy, rest } = heapUnderWatch();
    expect(await rest(100, aMomentMs)).toEqual(closingUp);
    await busy(100);
    expect(await rest(100)).toEqual(closingUp);
    await busy(100);
    expect(await rest(100)).toEqual(kept);
  });

  it("leaves a heap to V8 that would take long to collect in one step", async () => {
    const { busy, rest } = heapUnderWatch();
    await rest(129);
    await busy(129);
    expect(await rest(129)).toEqual(fast);
    await busy(128);
    expect(await rest(128)).toEqual(kept);
  });

  it("sees a heap that grows within a rest", async () => {
    const { busy, rest } = heapUnderWatch();
    await rest(110);
    await busy(110);
    expect(await rest(110)).toEqual(kept);
    expect(await rest(130)).toEqual(fast);
    expect(await rest(138)).toEqual(closingUp);
  });

  it("lets the heap of a service that is mostly what it remembers grow less in rests than while there is much to do", async () => {
    const { busy, flags, rest } = heapUnderWatch({ restPercent: 25, busyPercent: 100 });
    expect(flags.splice(0)).toEqual(["--heap-growing-percent=25"]);
    expect(await busy(100)).toEqual([...fast, "--heap-growing-percent=100"]);
    expect(await rest(100)).toEqual([...closingUp, "--heap-growing-percent=25"]);
  });
});
