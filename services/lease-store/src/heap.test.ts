import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { type Heap, keepHeapSmall } from "./heap.ts";

/** Longer than it takes to notice how busy the process is. */
const aWhileMs = 3_000;

function heapUnderWatch() {
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
  const keeping = keepHeapSmall(clock, heap);
  const pass = async (utilization: number, bytes: number) => {
    Object.assign(seen, { bytes, utilization });
    flags.length = 0;
    await clock.advance(aWhileMs);
    return [...flags];
  };
  return { clock, keeping, busy: (bytes: number) => pass(0.6, bytes), rest: (bytes: number) => pass(0.01, bytes) };
}

describe("keeping the heap small", () => {
  it("goes on looking how busy the process is until it is stopped", async () => {
    const clock = new FakeClock();
    const keeping = keepHeapSmall(clock);
    await clock.advance(10_000);
    expect(clock.pendingTimers).toBe(1);
    keeping[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("lets the heap double while there is much to do, and closes it up when it has grown and rests", async () => {
    const { busy, rest } = heapUnderWatch();
    expect(await busy(100)).toEqual(["--no-optimize-for-size", "--heap-growing-percent=100"]);
    expect(await rest(100)).toEqual(["--optimize-for-size", "--heap-growing-percent=25"]);
    expect(await rest(100)).toEqual([]);
  });

  it("does not close up again in the next rest, unless it has grown by more than a quarter", async () => {
    const { busy, rest } = heapUnderWatch();
    await rest(100);
    await busy(125);
    expect(await rest(125)).toEqual(["--no-optimize-for-size", "--heap-growing-percent=25"]);
    await busy(126);
    expect(await rest(126)).toEqual(["--optimize-for-size", "--heap-growing-percent=25"]);
    await busy(126);
    expect(await rest(126)).toEqual(["--no-optimize-for-size", "--heap-growing-percent=25"]);
  });
});
