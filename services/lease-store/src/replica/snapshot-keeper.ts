import { loadSnapshot, type PartitionState, type SnapshotReference, takeSnapshot } from "@tenure/core";
import type { ReplicaOptions } from "./options.ts";
import type { ReplicaPorts, StoredBatch } from "./ports.ts";

/**
 * Makes a partition's snapshots while it is owned: after so many batches or bytes, one at a time. An object is named by
 * partition and sequence and is announced only when it is complete, so a reader never meets half of one.
 */
export class SnapshotKeeper {
  readonly #ports: ReplicaPorts;
  readonly #options: ReplicaOptions;
  #batches = 0;
  #sizeBytes = 0;
  #isBusy = false;

  constructor(ports: ReplicaPorts, options: ReplicaOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** Counts a committed batch; true when it is time for a snapshot. */
  note(sizeBytes: number): boolean {
    const { snapshotAfterBatches, snapshotAfterBytes } = this.#options;
    this.#batches += 1;
    this.#sizeBytes += sizeBytes;
    return !this.#isBusy && (this.#batches >= snapshotAfterBatches || this.#sizeBytes >= snapshotAfterBytes);
  }

  /**
   * Takes the state as it is now, which must show only what is committed, and stores it. The state is read before this
   * returns; only the storing takes time.
   */
  async make(state: PartitionState): Promise<SnapshotReference> {
    const { clock, codec, snapshots } = this.#ports;
    const { incarnationId, instance: writer } = this.#options;
    this.#isBusy = true;
    this.#batches = 0;
    this.#sizeBytes = 0;
    try {
      const { lastSequence: sequence, partition } = state;
      const header = { incarnationId, writer, wallMs: clock.wall(), previous: state.snapshot };
      const bytes = codec.encodeSnapshot(takeSnapshot(state), header);
      return { ...(await snapshots.put(`${partition}/${sequence}`, bytes)), sequence };
    } finally {
      this.#isBusy = false;
    }
  }
}

/** The state of a snapshot object, with every duration running from now. */
export async function fetchSnapshot(
  ports: ReplicaPorts,
  incarnationId: string,
  reference: SnapshotReference,
): Promise<PartitionState> {
  const bytes = await ports.snapshots.get(reference);
  return loadSnapshot(ports.codec.decodeSnapshot(bytes, incarnationId), ports.clock.now());
}

/** The newest snapshot that the log's last message names; undefined when there is none. */
export async function newestReference(
  { codec, transport }: ReplicaPorts,
  partition: number,
): Promise<SnapshotReference | undefined> {
  const last = await transport.readLast(partition);
  if (last === undefined) return undefined;
  const batch: StoredBatch = codec.decodeBatch(last.sequence, last.payload);
  const announced = batch.events.findLast((event) => event.kind === "snapshotAnnounced");
  return announced?.kind === "snapshotAnnounced" ? announced.snapshot : batch.snapshot;
}
