import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
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
/** The share of time below which the event loop has little to do: V8 may then take time to close up its heap. */
const idleShare = 0.1;

/**
 * Has the collector keep the process about as large as what it remembers. Records that stay come to lie between others
 * that were soon forgotten, so while there is little to do V8 is told to prefer memory to speed: it then collects once
 * more, a few seconds later, moves what lies scattered together and gives the pages back. Called once, before anything
 * is loaded.
 */
export function keepHeapSmall(clock: Clock): Disposable {
  setFlagsFromString(`--heap-growing-percent=${growthPercent.idle}`);
  let since = performance.eventLoopUtilization();
  let isIdle: boolean | undefined;
  let timer: Timer;
  const look = () => {
    const { utilization } = performance.eventLoopUtilization(since);
    since = performance.eventLoopUtilization();
    if (isIdle !== utilization < idleShare) {
      isIdle = !isIdle;
      setFlagsFromString(isIdle ? "--optimize-for-size" : "--no-optimize-for-size");
      setFlagsFromString(`--heap-growing-percent=${isIdle ? growthPercent.idle : growthPercent.busy}`);
    }
    timer = clock.schedule(lookIntervalMs, look);
  };
  timer = clock.schedule(lookIntervalMs, look);
  return { [Symbol.dispose]: () => timer.cancel() };
}
