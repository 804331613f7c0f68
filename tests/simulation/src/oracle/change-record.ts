import { existingLease, type PartitionState } from "@tenure/core";
import type { StoredBatch } from "@tenure/lease-store/replica";

/** What a batch changed that watchers of leases are shown. */
export interface ShownBatch {
  readonly sequence: bigint;
  /** Each lease, and whether it exists after the batch. */
  readonly leases: ReadonlyMap<string, boolean>;
}

/**
 * Every change of every lease in the order of the log, over all partitions: what whoever watches must have been told.
 * Renewals are not changes.
 */
export class ChangeRecord {
  readonly #shown: ShownBatch[] = [];

  /** Notes what a batch changes: called before it is applied; what it gives is called after. */
  note({ events, sequence }: StoredBatch, state: PartitionState): () => void {
    const touched = new Set(events.flatMap((event) => ("lease" in event ? [event.lease] : [])));
    const before = new Set([...touched].filter((lease) => existingLease(state, lease) !== undefined));
    return () => {
      const leases = new Map<string, boolean>();
      for (const lease of touched) {
        const exists = existingLease(state, lease) !== undefined;
        const isSame = before.has(lease) === exists;
        const isRevised = exists && state.leases.get(lease)?.revision.sequence === sequence;
        if (!isSame || isRevised) leases.set(lease, exists);
      }
      if (leases.size > 0) this.#shown.push({ sequence, leases });
    };
  }

  /** The last change of all; 0 if there was none. */
  get lastSequence(): bigint {
    return this.#shown.at(-1)?.sequence ?? 0n;
  }

  /** The first change after a position. */
  after(sequence: bigint): ShownBatch | undefined {
    let low = 0;
    let high = this.#shown.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#shown[middle]?.sequence ?? 0n) <= sequence) low = middle + 1;
      else high = middle;
    }
    return this.#shown[low];
  }

  /** The leases that existed at a position, each with the position of its last change. */
  presentAt(sequence: bigint): ReadonlyMap<string, bigint> {
    const present = new Map<string, bigint>();
    for (const shown of this.#shown) {
      if (shown.sequence > sequence) break;
      for (const [lease, exists] of shown.leases) {
        if (exists) present.set(lease, shown.sequence);
        else present.delete(lease);
      }
    }
    return present;
  }
}
