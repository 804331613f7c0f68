import type { JetStreamManager } from "@nats-io/jetstream";
import { logSubject } from "@tenure/bus";
import { streamNames } from "@tenure/log";
import { batchIdOf } from "./log-writer.ts";

/** A message of the log as the server keeps it. */
export interface StoredBatch {
  readonly id: string;
  readonly sequence: bigint;
}

/** Everything that a partition's log holds, read message by message behind the product's back. */
export async function storedBatches(admin: JetStreamManager, partition: number): Promise<StoredBatch[]> {
  const batches: StoredBatch[] = [];
  let next = 1;
  for (;;) {
    const query = { seq: next, next_by_subj: logSubject(partition) };
    const message = await admin.streams.getMessage(streamNames.log, query as { seq: number });
    if (message === null) return batches;
    batches.push({ id: batchIdOf(message.data), sequence: BigInt(message.seq) });
    next = message.seq + 1;
  }
}

/** Removes every consumer of the log, as an operator might; gives how many there were. */
export async function deleteConsumers(admin: JetStreamManager): Promise<number> {
  let deleted = 0;
  for await (const { name } of admin.consumers.list(streamNames.log)) {
    if (await admin.consumers.delete(streamNames.log, name)) deleted += 1;
  }
  return deleted;
}
