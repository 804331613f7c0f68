import { type PartitionState, type SnapshotReference, takeSnapshotInSteps } from "@tenure/core";
import { inSteps } from "@tenure/reader";
import type { ReplicaOptions } from "./options.ts";
import type { PartitionOwner } from "./partition-owner.ts";
import type { ReplicaPorts } from "./ports.ts";
import type { Turns } from "./turns.ts";

/** Batches of less than this are read faster than a snapshot is worth. */
const leastBytes = 1_000_000;
/** Bytes of a snapshot that are read while a reader takes a batch in, beside the batch's own bytes. */
const bytesPerBatch = 100;

/** The ownership of which snapshots are made. */
type KeptOwner = Pick<PartitionOwner, "state" | "whenCommitted" | "announce">;

/** A piece of a snapshot that took about a millisecond to make. */
const pauseBytes = 32_768;

/**
 * Makes a partition's snapshots while it is owned, one at a time: as soon as the batches since the last one, when they
 * are worth one at all, take as long to read as that one. So reading a partition takes at most about twice as long as it
 * must, and a change pays the same for snapshots however many leases there are. An object is named by partition and
 * sequence and is announced only when it is complete, so a reader never meets half of one.
 */
export class SnapshotKeeper {
  readonly #ports: ReplicaPorts;
  readonly #options: ReplicaOptions;
  readonly #turns: Turns;
  #batches = 0;
  #sizeBytes = 0;
  #isBusy = false;

  /** Partitions that share their turns make snapshots one after another, so that a replica has room for one. */
  constructor(ports: ReplicaPorts, options: ReplicaOptions, turns: Turns) {
    this.#turns = turns;
    this.#ports = ports;
    this.#options = options;
  }

  /**
   * Counts a committed batch; true when it is time for a snapshot after `latest`. Then it is not asked for another until
   * that is made.
   */
  note(sizeBytes: number, latest: SnapshotReference | undefined): boolean {
    const { snapshotAfterBatches, snapshotAfterBytes } = this.#options;
    this.#batches += 1;
    this.#sizeBytes += sizeBytes;
    if (this.#isBusy) return false;
    const isWorthOne = this.#batches >= snapshotAfterBatches || this.#sizeBytes >= leastBytes;
    const readBytes = this.#sizeBytes + this.#batches * bytesPerBatch;
    this.#isBusy = this.#sizeBytes >= snapshotAfterBytes || (isWorthOne && readBytes >= (latest?.sizeBytes ?? 0));
    return this.#isBusy;
  }

  /** Makes the snapshot that was asked for, when its turn comes, and has it announced, if `isOwner` still. */
  async makeInTurn(owner: KeptOwner, isOwner: () => boolean): Promise<void> {
    try {
      const reference = await this.#turns.take(() => this.#makeOf(owner, isOwner));
      if (reference !== undefined && isOwner()) owner.announce(reference);
    } finally {
      this.#isBusy = false;
    }
  }

  /** Takes the state as soon as it shows only what is committed; undefined when the ownership is over. */
  #makeOf(owner: KeptOwner, isOwner: () => boolean): Promise<SnapshotReference | undefined> {
    return new Promise((resolve) => {
      owner.whenCommitted((isCommitted) => resolve(isCommitted && isOwner() ? this.make(owner.state) : undefined));
    });
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
