import type { StoredBatch } from "@tenure/lease-store/replica";
import type { ReplicaNode } from "../store/replica-node.ts";

/** Floating point sums of durations may miss by this much. */
export const toleranceMs = 1e-6;

/** How long the writer of a batch had known of an earlier one when it decided, on its own clock. */
export class WriterSight {
  readonly #nodeOf: (instance: string) => ReplicaNode | undefined;

  constructor(nodeOf: (instance: string) => ReplicaNode | undefined) {
    this.#nodeOf = nodeOf;
  }

  /** When the batch was decided. What a writer appends it decides at the same instant. */
  decidedAtMs({ batchId, writer }: StoredBatch): number {
    return this.#nodeOf(writer)?.sights.sentAtMs(batchId) ?? Number.NaN;
  }

  /** At most this long: from when it wrote the earlier batch itself, or first saw it, or loaded what it led to. */
  mostMs(batch: StoredBatch, since: StoredBatch): number {
    const sights = this.#nodeOf(batch.writer)?.sights;
    const seenAtMs = sights?.sentAtMs(since.batchId) ?? sights?.seenAtMs(since.partition, since.sequence);
    return this.decidedAtMs(batch) - (seenAtMs ?? Number.NaN) + toleranceMs;
  }

  /** At least this long: from when it last saw the earlier batch, by whatever way. */
  leastMs(batch: StoredBatch, since: StoredBatch): number {
    const { batchId, partition, sequence } = since;
    const seenAtMs = this.#nodeOf(batch.writer)?.sights.lastSightMs(partition, sequence, batchId);
    return this.decidedAtMs(batch) - (seenAtMs ?? Number.NaN) - toleranceMs;
  }

  /** When the writer's last append was acknowledged to it before this one. */
  ackedAtMs({ partition, writer }: StoredBatch): number {
    return this.#nodeOf(writer)?.sights.ackedAtMs(partition) ?? Number.NEGATIVE_INFINITY;
  }

  /** When the writer's first append after an instant was acknowledged to it; infinite if none was. */
  ackedAfterMs({ partition, writer }: StoredBatch, atMs: number): number {
    return this.#nodeOf(writer)?.sights.ackedAfterMs(partition, atMs) ?? Number.POSITIVE_INFINITY;
  }
}
