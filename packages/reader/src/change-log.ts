import { type ChangeSet, forgetChanges, sizeOfChanges } from "./change-set.ts";

/**
 * The last changes in the order of the log: a watch that was cut off goes on where it stood, and a list shows the state
 * that its first page showed. Bounded by the number of records that it names.
 */
export class ChangeLog {
  readonly #most: number;
  #sets: ChangeSet[] = [];
  /** The place of the oldest set that is kept. */
  #first = 0;
  #size = 0;
  #floor: bigint;

  /** Nothing at or below `floor` is known. */
  constructor(most: number, floor = 0n) {
    this.#most = most;
    this.#floor = floor;
  }

  /** The changes after this position are all kept. */
  get floor(): bigint {
    return this.#floor;
  }

  /** Adds the next changes of the log; renewals are not kept. */
  add(changes: ChangeSet): void {
    const size = sizeOfChanges(changes);
    if (size === 0) return;
    const hasRenewals = changes.renewedLeases.length > 0 || changes.renewedCandidates.length > 0;
    this.#sets.push(hasRenewals ? { ...changes, renewedLeases: [], renewedCandidates: [] } : changes);
    this.#size += size;
    while (this.#size > this.#most) {
      const oldest = this.#sets[this.#first];
      if (oldest === undefined) return;
      this.#first += 1;
      this.#size -= sizeOfChanges(oldest);
      forgetChanges(oldest);
      this.#floor = oldest.sequence;
    }
    // Cutting now and then keeps the cost of a change constant.
    if (this.#first * 2 < this.#sets.length) return;
    this.#sets = this.#sets.slice(this.#first);
    this.#first = 0;
  }

  /** Forgets everything up to a position, because what happened before it is not known change by change. */
  restart(floor: bigint): void {
    for (const set of this.#sets) forgetChanges(set);
    this.#sets = [];
    this.#first = 0;
    this.#size = 0;
    if (floor > this.#floor) this.#floor = floor;
  }

  /** The changes after a position, oldest first; undefined if some of them are no longer kept. */
  after(revision: bigint): readonly ChangeSet[] | undefined {
    if (revision < this.#floor) return undefined;
    let from = this.#sets.length;
    while (from > this.#first && (this.#sets[from - 1]?.sequence ?? 0n) > revision) from -= 1;
    return this.#sets.slice(from);
  }
}
