import { setFlagsFromString } from "node:v8";

/** By how much V8 may enlarge the young generation in one step: from its least size to any size that is in use. */
const growthFactor = 32;

/**
 * Has V8 make the young generation as large as it may be in one step, when what a process keeps shows that it is needed.
 * V8 makes it 1 MiB again whenever a full collection finds little going on, and then only doubles it. What coordinates
 * others rests most of the time: its first seconds of work were some twenty collections a second, each a stall of about a
 * millisecond for everybody who waits. How large it may be is for the command line (`--max-semi-space-size`).
 */
export function growAtOnce(): void {
  setFlagsFromString(`--semi-space-growth-factor=${growthFactor}`);
}
