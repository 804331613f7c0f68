import type { OpenBatch } from "@tenure/core";
import { Backoff } from "@tenure/kernel";
import type { ReplicaPorts } from "./ports.ts";

/** What is needed to look at the batch before one's own. */
type Ports = Pick<ReplicaPorts, "clock" | "codec" | "random" | "transport">;

/** The batch that was read last, or that an append follows. */
export type Predecessor = Pick<OpenBatch, "prev" | "prevBatchId">;

/** Waits between tries to read it. */
const readBackoff = { firstMs: 5, limitMs: 250 };

/**
 * Whether the log has another batch at `prev` than the one that was read there; undefined if it does not say. A log that
 * has lost its end gives its sequences again, and when others have appended as much as was lost, the sequence that an
 * append expects is there again (rule 2).
 */
async function isReplaced(
  { codec, transport }: Ports,
  partition: number,
  { prev, prevBatchId }: Predecessor,
): Promise<boolean | undefined> {
  if (prev === 0n) return false;
  const found = await transport.readAfter(partition, prev - 1n).catch(() => undefined);
  if (found === undefined) return undefined;
  // What is purged by now was followed by others, so that nothing more of this owner's is committed anyway.
  return found.sequence === prev && codec.batchIdOf(found.payload) !== prevBatchId;
}

/**
 * As {@link isReplaced}, for certain: it goes on until the log shows what it has at `prev`. After an append that is soon;
 * a log that has lost its end does when others have appended as much. Rejects when `signal` is aborted.
 */
export async function isSurelyReplaced(
  ports: Ports,
  partition: number,
  batch: Predecessor,
  signal: AbortSignal,
): Promise<boolean> {
  const waits = new Backoff(readBackoff, ports.random);
  for (;;) {
    const isOther = await isReplaced(ports, partition, batch);
    signal.throwIfAborted();
    if (isOther !== undefined) return isOther;
    await ports.clock.sleep(waits.next(), signal);
  }
}
