import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import type { Clock, Timer } from "@tenure/kernel";

/**
 * How far the heap may grow beyond what was in use after the last full collection before the next one begins, in
 * percent. V8 would let it grow up to fourfold while memory is plentiful; a store is mostly what it remembers. While it
 * is busy a full collection costs as much as thousands of changes, and what it remembers of them dies middle-aged: then
 * the heap may double.
 */
const growthPercent = { idle: 25, busy: 100 };
/** How often it is looked at how busy the process is. */
const lookIntervalMs = 2_000;
/** The share of time below which the event loop has little to do. */
const idleShare = 0.1;
/** A heap that rests is closed up when it has grown to this many times what it had when that was last done. */
const worthwhileGrowth = 1.25;

/** What is seen of the process, and what V8 is told. */
export interface Heap {
  readonly bytes: number;
  /** The share of time for which the event loop was busy since this was last asked for. */
  takeUtilization(): number;
  setFlag(flag: string): void;
}

/**
 * Has the collector keep the process about as large as what it remembers. Records that stay come to lie between others
 * that were soon forgotten, so when there is little to do V8 is told to prefer memory to speed: it then collects once
 * more, a few seconds later, moves what lies scattered together and gives the pages back. That costs compiled code, so
 * it is done once for each growth and not in every rest. Called once, when the service starts.
 */
export function keepHeapSmall(clock: Clock, heap: Heap = heapOfProcess()): Disposable {
  heap.setFlag(`--heap-growing-percent=${growthPercent.idle}`);
  let isIdle: boolean | undefined;
  let closedUpBytes = 0;
  let timer: Timer;
  const look = () => {
    const wasIdle = isIdle;
    isIdle = heap.takeUtilization() < idleShare;
    if (isIdle !== wasIdle) {
      const { bytes } = heap;
      const isWorthwhile = isIdle && bytes > closedUpBytes * worthwhileGrowth;
      if (isWorthwhile) closedUpBytes = bytes;
      heap.setFlag(isWorthwhile ? "--optimize-for-size" : "--no-optimize-for-size");
      heap.setFlag(`--heap-growing-percent=${isIdle ? growthPercent.idle : growthPercent.busy}`);
    }
    timer = clock.schedule(lookIntervalMs, look);
  };
  timer = clock.schedule(lookIntervalMs, look);
  return { [Symbol.dispose]: () => timer.cancel() };
}

function heapOfProcess(): Heap {
  let since = performance.eventLoopUtilization();
  return {
    get bytes() {
      return getHeapStatistics().total_physical_size;
    },
    takeUtilization() {
      const { utilization } = performance.eventLoopUtilization(since);
      since = performance.eventLoopUtilization();
      return utilization;
    },
    setFlag: setFlagsFromString,
  };
}
