import { emptyPartition, loadSnapshotInSteps, type PartitionState, type SnapshotReference } from "@tenure/core";
import type { Clock } from "@tenure/kernel";
import type { LogTransport, SnapshotStore } from "@tenure/log";
import { inSteps } from "./in-steps.ts";
import type { LogDecoder } from "./log-decoder.ts";

/** What a partition is loaded from. */
export interface LoadPorts {
  readonly clock: Clock;
  readonly transport: Pick<LogTransport, "readLast">;
  readonly snapshots: Pick<SnapshotStore, "get">;
  readonly codec: LogDecoder;
}

/**
 * The state of a partition's newest snapshot, with every duration running from now; empty when there is none. Works in
 * steps of a few milliseconds, between which the event loop does other things.
 */
export async function loadPartition(
  ports: LoadPorts,
  partition: number,
  incarnationId: string,
): Promise<PartitionState> {
  const { clock, codec, snapshots } = ports;
  const reference = await newestReference(ports, partition);
  if (reference === undefined) return emptyPartition(partition, clock.now());
  const bytes = await snapshots.get(reference);
  const snapshot = await inSteps(codec.decodeSnapshot(bytes, incarnationId), clock);
  return inSteps(loadSnapshotInSteps(snapshot, clock.now()), clock);
}

/** The newest snapshot that the log's last message names; undefined when there is none. */
async function newestReference(
  { codec, transport }: LoadPorts,
  partition: number,
): Promise<SnapshotReference | undefined> {
  const last = await transport.readLast(partition);
  if (last === undefined) return undefined;
  const batch = codec.decodeBatch(last.sequence, last.payload);
  const announced = batch.events.findLast((event) => event.kind === "snapshotAnnounced");
  return announced?.kind === "snapshotAnnounced" ? announced.snapshot : batch.snapshot;
}
