import { followsOutage, type OpenBatch, type OwnedPartition } from "@tenure/core";
import type { Fault, Random } from "@tenure/kernel";
import type { CommitOutcome } from "@tenure/log";
import { outcomeUnknown, ownerChanged } from "./faults.ts";
import type { ReplicaOptions } from "./options.ts";
import { astray, type OwnerEnding } from "./owner-ending.ts";
import type { PartitionWriter, ReplicaPorts } from "./ports.ts";
import { isReplaced } from "./predecessor.ts";

type Committed = Extract<CommitOutcome, { kind: "committed" }>;

/** What became of an append: it stands in the log, or the ownership is over and its callers are told the fault. */
export type AppendResult =
  | (Committed & { readonly sizeBytes: number })
  | { readonly kind: "ended"; readonly ending: OwnerEnding; readonly fault: Fault };

/** What batches of one ownership are appended with. */
export interface Appending {
  readonly owned: OwnedPartition;
  readonly ports: ReplicaPorts;
  readonly options: ReplicaOptions;
  readonly writer: PartitionWriter;
}

/** Appends the open batch and waits until it is certain what became of it. Throws when that can never be known. */
export async function appendBatch(
  appending: Appending,
  batchId: string,
  batch: OpenBatch,
  signal: AbortSignal,
): Promise<AppendResult> {
  const { epoch, partition, snapshot } = appending.owned.state;
  const { incarnationId, instance: writer } = appending.options;
  const { events, position, prev, prevBatchId } = batch;
  const { wallMs } = position;
  const { codec } = appending.ports;
  const payload = codec.encodeBatch({
    partition,
    epoch,
    batchId,
    prev,
    prevBatchId,
    writer,
    incarnationId,
    wallMs,
    snapshot,
    events,
  });
  const ended = (ending: OwnerEnding, fault: Fault): AppendResult => ({ kind: "ended", ending, fault });
  // Looked at before as well: who appends to what took the place of a lost batch breaks the log for all others, and has
  // those follow it that have read the lost one.
  const inDoubt = isFirstAfterOutage(appending, appending.ports.clock.now());
  try {
    const result = await appending.writer.commit(payload, prev, signal, inDoubt);
    if (result.kind === "committed") {
      const { kind, sentAtMs, sequence } = result;
      const isAstray = isFirstAfterOutage(appending, sentAtMs) && (await isBehindLostBatch(appending, batch, signal));
      if (isAstray) return ended(astray(prev), outcomeUnknown(partition));
      return { kind, sentAtMs, sequence, sizeBytes: payload.length };
    }
    const fault = result.applied === "NO" ? ownerChanged(partition) : outcomeUnknown(partition);
    return ended(result.kind === "astray" ? astray(prev) : { kind: "replaced", isClean: events.length === 0 }, fault);
  } catch (thrown) {
    if (signal.aborted) return ended({ kind: "stopped" }, outcomeUnknown(partition));
    throw thrown;
  }
}

function isFirstAfterOutage({ owned: { guard }, ports }: Appending, sentAtMs: number): boolean {
  return followsOutage(guard, sentAtMs, ports.clock.now());
}

/**
 * Whether the batch that was just appended does not follow the one that its owner had read. Asked of the first append
 * after an outage, which a takeover ends too: a log loses its end only when servers fail.
 */
function isBehindLostBatch({ owned, ports }: Appending, batch: OpenBatch, signal: AbortSignal): Promise<boolean> {
  const { partition } = owned.state;
  return isReplaced(ports, { partition, sequence: batch.prev, batchId: batch.prevBatchId }, signal);
}

/** A batch's id: 32 hexadecimal digits. */
export function freshBatchId(random: Random): string {
  let text = "";
  for (let part = 0; part < 4; part += 1) {
    // One digit more, which is cut off: so none in front is missing.
    text += (2 ** 32 + Math.floor(random.next() * 2 ** 32)).toString(16).slice(1);
  }
  return text;
}
