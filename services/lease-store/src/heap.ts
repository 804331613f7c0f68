import { setFlagsFromString } from "node:v8";

/**
 * How far the heap may grow beyond what was in use after the last full collection before the next one begins, in
 * percent. V8 would let it grow up to fourfold while memory is plentiful; a store is mostly what it remembers, and its
 * full collections are concurrent and cost about a hundredth of its CPU at this setting.
 */
const growthPercent = 25;

/** Has the collector keep the process about as large as what it remembers. Called once, before anything is loaded. */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}
