import { defaultDeadlineMs } from "@tenure/bus";
import { durationToMs, Wait } from "@tenure/contracts";
import { wireField, wirePath } from "./wire-field.ts";

/** An acquire that waits and says no deadline is ended after this long: no call is open for ever. */
const longestWaitMs = 24 * 60 * 60 * 1_000;

/** How long a call may take: as long as asked; a wait as long as it waits and a call's time more; a call's time. */
export function callTimeoutMs(method: string, request: Uint8Array, askedMs: number | undefined): number {
  if (askedMs !== undefined) return Math.min(Math.max(askedMs, 0), longestWaitMs);
  if (method !== "LeaseService.Acquire" || wireField(request, 4) === undefined) return defaultDeadlineMs;
  const timeout = wirePath(request, [4, 1]);
  if (timeout === undefined) return longestWaitMs;
  const waitMs = waitTimeoutMs(request);
  return Math.min((waitMs ?? longestWaitMs) + defaultDeadlineMs, longestWaitMs);
}

function waitTimeoutMs(request: Uint8Array): number | undefined {
  try {
    const { timeout } = Wait.decode(wireField(request, 4) ?? new Uint8Array(0));
    return timeout === undefined ? undefined : durationToMs(timeout);
  } catch {
    // Whoever serves the request says what is wrong with it.
    return undefined;
  }
}
