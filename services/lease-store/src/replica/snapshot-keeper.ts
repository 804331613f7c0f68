import { type PartitionState, type SnapshotReference, takeSnapshotInSteps } from "@tenure/core";
import { inSteps } from "@tenure/reader";
import type { ReplicaOptions } from "./options.ts";
import type { ReplicaPorts } from "./ports.ts";

/** Batches of less than this are read faster than a snapshot is worth. */
const leastBytes = 1_000_000;

/** A piece of a snapshot that took about a millisecond to make. */
const pauseBytes = 32_768;

/**
 * Makes a partition's snapshots while it is owned, one at a time: after so many batches, or as soon as the batches since
 * the last one are as large as that one, so that reading a partition takes at most about twice as long as it must and
 * making snapshots costs no more than writing the log does. An object is named by partition and sequence and is
 * announced only when it is complete, so a reader never meets half of one.
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

  /**
   * Counts a committed batch; true when it is time for a snapshot after `latest`. Then it is not asked for another until
   * {@link rest}.
   */
  note(sizeBytes: number, latest: SnapshotReference | undefined): boolean {
    const { snapshotAfterBatches, snapshotAfterBytes } = this.#options;
    this.#batches += 1;
    this.#sizeBytes += sizeBytes;
    if (this.#isBusy) return false;
    const enoughBytes = Math.min(snapshotAfterBytes, Math.max(leastBytes, latest?.sizeBytes ?? 0));
    this.#isBusy = this.#batches >= snapshotAfterBatches || this.#sizeBytes >= enoughBytes;
    return this.#isBusy;
  }

  /** The snapshot that was asked for is made, or is not going to be. */
  rest(): void {
    this.#isBusy = false;
  }

  /**
   * Takes the state as it is now, which must show only what is committed, and stores it. Works in steps of a few
   * milliseconds, between which the partition goes on; the snapshot shows the state as it is now all the same.
   */
  async make(state: PartitionState): Promise<SnapshotReference> {
    const { clock, codec, snapshots } = this.#ports;
    const { incarnationId, instance: writer } = this.#options;
    this.#batches = 0;
    this.#sizeBytes = 0;
    const header = { incarnationId, writer, wallMs: clock.wall(), previous: state.snapshot };
    const snapshot = await inSteps(takeSnapshotInSteps(state), clock);
    const { partition, sequence } = snapshot;
    const chunks: Uint8Array[] = [];
    for (const chunk of codec.snapshotChunks(snapshot, header)) {
      chunks.push(chunk);
      if (chunk.length >= pauseBytes) await clock.sleep(0);
    }
    return { ...(await snapshots.put(`${partition}/${sequence}`, Buffer.concat(chunks))), sequence };
  }
}
