import { availableParallelism, loadavg } from "node:os";

/** On a machine that is busy with other things durations say little: they may be this much longer there. */
const busyFactor = 10;

/**
 * What a duration that is promised for a machine of its own may be here. Asked before a test makes load itself; the load
 * of the last minute decides.
 */
export function promisedMs(ms: number): number {
  const [lastMinute = 0] = loadavg();
  return lastMinute < availableParallelism() ? ms : ms * busyFactor;
}
