import { Backoff } from "@tenure/kernel";
import { hasBatchAt, type ReadPlace } from "@tenure/log";
import type { ReplicaPorts } from "./ports.ts";

/** Waits between looks. */
const readBackoff = { firstMs: 5, limitMs: 250 };

/**
 * Whether the log has another batch where one was read, for certain: it goes on until the log shows what it has there. After
 * an append to it that is soon; a log that has lost its end does when others have appended as much. Rejects when `signal`
 * is aborted.
 */
export async function isReplaced(
  { clock, codec, random, transport }: Pick<ReplicaPorts, "clock" | "codec" | "random" | "transport">,
  place: ReadPlace,
  signal: AbortSignal,
): Promise<boolean> {
  const waits = new Backoff(readBackoff, random);
  for (;;) {
    const isThere = await hasBatchAt(transport, (payload) => codec.batchIdOf(payload), place);
    signal.throwIfAborted();
    if (isThere !== undefined) return !isThere;
    await clock.sleep(waits.next(), signal);
  }
}
