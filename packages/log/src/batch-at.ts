import type { LogTransport } from "./log-transport.ts";

/** A batch that was read at a position of a partition's log. */
export interface ReadPlace {
  readonly partition: number;
  readonly sequence: bigint;
  readonly batchId: string;
}

/**
 * Whether the log still has a batch where it was read; undefined if it does not say. A log that has lost its end gives its
 * sequences again: when others have appended as much as was lost, something stands there, and it is another batch (rule 2).
 */
export async function hasBatchAt(
  transport: Pick<LogTransport, "readAfter">,
  batchIdOf: (payload: Uint8Array) => string | undefined,
  { batchId, partition, sequence }: ReadPlace,
): Promise<boolean | undefined> {
  if (sequence === 0n) return true;
  const found = await transport.readAfter(partition, sequence - 1n).catch(() => undefined);
  if (found === undefined) return undefined;
  // What is purged by now was followed by others: an append to it is refused anyway.
  return found.sequence > sequence || batchIdOf(found.payload) === batchId;
}
