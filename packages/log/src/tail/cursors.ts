/** What is to be done with a message that a tail was handed. */
export type Verdict = "tell" | "duplicate" | "gap" | "ignored";

interface Cursor {
  /** The last message that was told, or the sequence to begin after. */
  told: bigint;
  /** Messages are missing: nothing is told until the reader has a snapshot. */
  isParked: boolean;
  isCaughtUp: boolean;
}

/**
 * Where a tail of several partitions stands. One consumer delivers all of them in the log's order, so a single position
 * says how far it has read; each partition has its own cursor, which turns a second delivery into nothing and a missing
 * message into a gap. Pure bookkeeping, shared by every transport.
 */
export class Cursors {
  readonly #cursors = new Map<number, Cursor>();
  #position: bigint;

  constructor(from: ReadonlyMap<number, bigint>) {
    let lowest: bigint | undefined;
    for (const [partition, told] of from) {
      this.#cursors.set(partition, { told, isParked: false, isCaughtUp: false });
      if (lowest === undefined || told < lowest) lowest = told;
    }
    this.#position = lowest ?? 0n;
  }

  /** Everything up to here has been judged, for every partition: a new consumer begins after it. */
  get position(): bigint {
    return this.#position;
  }

  /** The partitions that are followed, parked ones included. */
  get partitions(): readonly number[] {
    return [...this.#cursors.keys()];
  }

  /** The last message that was told of a partition; undefined while it is parked or unknown. */
  told(partition: number): bigint | undefined {
    const cursor = this.#cursors.get(partition);
    return cursor === undefined || cursor.isParked ? undefined : cursor.told;
  }

  /**
   * Judges the next message. `prev` is the sequence that its append expected; a message whose predecessor was not told
   * shows that messages are missing. One that follows an *older* message than the last told is told all the same: the
   * reader sees that the log does not chain.
   */
  judge(partition: number, sequence: bigint, prev: bigint | undefined): Verdict {
    if (sequence > this.#position) this.#position = sequence;
    const cursor = this.#cursors.get(partition);
    if (cursor === undefined || cursor.isParked) return "ignored";
    if (sequence <= cursor.told) return "duplicate";
    if (prev !== undefined && prev > cursor.told) {
      cursor.isParked = true;
      return "gap";
    }
    cursor.told = sequence;
    return "tell";
  }

  /** Follows a partition anew; reading must go back to {@link position}. */
  resume(partition: number, sequence: bigint): void {
    this.#cursors.set(partition, { told: sequence, isParked: false, isCaughtUp: false });
    if (sequence < this.#position) this.#position = sequence;
  }

  /** The partitions that have just caught up: each is named once after its start or resume. */
  caughtUp(): readonly number[] {
    const fresh: number[] = [];
    for (const [partition, cursor] of this.#cursors) {
      if (cursor.isParked || cursor.isCaughtUp) continue;
      cursor.isCaughtUp = true;
      fresh.push(partition);
    }
    return fresh;
  }
}
