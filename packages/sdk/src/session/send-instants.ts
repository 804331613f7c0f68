/** Of instants closer than this only the first is kept, and counts for all, which errs early; the newest is exact. */
const stepMs = 5;
/** No term can be carried by a send that is older than the longest L that the service accepts by default. */
const keptMs = 300_000;

/**
 * When each numbered message was sent, on the holder's clock. Numbers and instants only grow, so a number without an
 * entry of its own has the instant of the one before it: never later than the truth. Memory is bounded by time, not by
 * the number of messages.
 */
export class SendInstants {
  #numbers: number[] = [];
  #instants: number[] = [];
  /** Entries before this place are forgotten; the arrays are cut when half of them is. */
  #first = 0;

  get size(): number {
    return this.#numbers.length - this.#first;
  }

  /** Notes that `number` is about to be sent. */
  note(number: number, atMs: number): void {
    const beforeLast = this.#instants.at(-2);
    if (this.size > 1 && beforeLast !== undefined && atMs - beforeLast < stepMs) {
      this.#numbers.pop();
      this.#instants.pop();
    }
    this.#numbers.push(number);
    this.#instants.push(atMs);
    this.#forget(atMs - keptMs);
  }

  /** An instant at or before the send of `number`; `-Infinity` if that is no longer known. */
  at(number: number): number {
    let low = this.#first;
    let high = this.#numbers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle] ?? 0) <= number) low = middle + 1;
      else high = middle;
    }
    return low === this.#first ? Number.NEGATIVE_INFINITY : (this.#instants[low - 1] ?? Number.NEGATIVE_INFINITY);
  }

  #forget(beforeMs: number): void {
    while (this.#first < this.#instants.length - 1 && (this.#instants[this.#first] ?? 0) < beforeMs) this.#first += 1;
    if (this.#first * 2 < this.#instants.length) return;
    this.#numbers = this.#numbers.slice(this.#first);
    this.#instants = this.#instants.slice(this.#first);
    this.#first = 0;
  }
}
