import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import type { Clock, Timer } from "@tenure/kernel";

/** How often it is looked at how busy the process is. */
const lookIntervalMs = 2_000;
/** The share of time below which the event loop has little to do. */
const restShare = 0.1;
/** A heap that rests is closed up when it has grown to this many times what it had when that was last done. */
const worthwhileGrowth = 1.25;
/** V8 looks every eight seconds whether to close up, and is done a second or two later. */
const closingMs = 10_000;
/** A larger heap is left to V8 in its rests: to collect all of this one in one step took up to 44 ms on a quick core. */
const mostKeptBytes = 128 * 2 ** 20;

/**
 * How far the heap may grow beyond what was in use after the last full collection before the next one begins, in
 * percent. V8 would let it grow up to fourfold while memory is plentiful, which is too much for a service that is mostly
 * what it remembers.
 */
export interface HeapGrowth {
  readonly restPercent: number;
  readonly busyPercent: number;
}

/** What is done about the heap: nothing while there is much to do, and in a rest one of three things. */
type Mode = "busy" | "closing" | "kept" | "left";

/** May V8 mark step by step, and should it prefer memory to speed? */
const flagsOf: Readonly<Record<Mode, readonly string[]>> = {
  busy: ["--no-optimize-for-size", "--incremental-marking"],
  closing: ["--optimize-for-size", "--incremental-marking"],
  kept: ["--no-optimize-for-size", "--no-incremental-marking"],
  left: ["--no-optimize-for-size", "--incremental-marking"],
};

/** What is seen of the process, and what V8 is told. */
export interface Heap {
  readonly bytes: number;
  /** The share of time for which the event loop was busy since this was last asked for. */
  takeUtilization(): number;
  setFlag(flag: string): void;
}

/**
 * Says when V8 may make the process small: once for each growth, and not in every rest. V8 by itself does it some
 * twenty seconds after a load, and throws away the code that was compiled for it, so that the next load begins slowly;
 * what coordinates others rests most of the time. A heap that has grown is closed up when there is little to do: V8 is
 * told to prefer memory to speed, collects a few times more, moves what lies scattered together and gives the pages
 * back. In other rests it may not mark step by step, which is all that it makes a process small by; should the heap be
 * full just then, it is collected in one step. Called once, when the service starts.
 */
export function keepHeapSmall(clock: Clock, growth?: HeapGrowth, heap: Heap = heapOfProcess()): Disposable {
  let mode: Mode | undefined;
  let closedUpBytes = 0;
  let closing = { bytes: 0, sinceMs: 0 };
  let timer: Timer;
  const modeNow = (bytes: number): Mode => {
    if (heap.takeUtilization() >= restShare) return "busy";
    // Until the rest ends: what is to be given back may be needed for a little longer.
    if (mode === "closing" || bytes > closedUpBytes * worthwhileGrowth) return "closing";
    return bytes > mostKeptBytes ? "left" : "kept";
  };
  const enter = (next: Mode, bytes: number) => {
    mode = next;
    if (next === "closing") closing = { bytes, sinceMs: clock.now() };
    for (const flag of flagsOf[next]) heap.setFlag(flag);
    if (growth === undefined) return;
    heap.setFlag(`--heap-growing-percent=${next === "busy" ? growth.busyPercent : growth.restPercent}`);
  };
  const look = () => {
    const { bytes } = heap;
    const next = modeNow(bytes);
    if (next !== mode) enter(next, bytes);
    // A rest that was too short for it leaves it to the next one.
    if (mode === "closing" && clock.now() - closing.sinceMs >= closingMs) closedUpBytes = closing.bytes;
    timer = clock.schedule(lookIntervalMs, look);
  };
  if (growth !== undefined) heap.setFlag(`--heap-growing-percent=${growth.restPercent}`);
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
