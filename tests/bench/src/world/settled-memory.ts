import type { Clock } from "@tenure/kernel";

/** Longer than the pause between two steps in which V8 gives memory back: 25 s were seen. */
const quietMs = 45_000;
const lookMs = 1_000;
/** What is less than this share of the least so far is another step, not the breathing of a process at rest. */
const stepShare = 0.98;

/** What `read` comes to rest at: memory of a process at rest is given back in steps, and is read when no more come. */
export async function settledMemory(read: () => Promise<number>, clock: Clock): Promise<number> {
  let least = await read();
  let sinceMs = clock.now();
  let bytes = least;
  while (clock.now() < sinceMs + quietMs) {
    await clock.sleep(lookMs);
    bytes = await read();
    if (bytes >= least * stepShare) continue;
    least = bytes;
    sinceMs = clock.now();
  }
  return bytes;
}
