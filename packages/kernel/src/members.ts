/** What can be a member of one such set at a time. */
export interface Member {
  /** Where the set has it; -1 outside. The set's own. */
  place: number;
}

/**
 * A set without an order, for items that come and go thousands of times a second: see `NumberedItems` for what a Set
 * would do to them. Each item knows its place.
 */
export class Members<Item extends Member> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** A copy. */
  get all(): readonly Item[] {
    return this.#items.slice();
  }

  /** Harmless if it is there. */
  add(item: Item): void {
    if (item.place >= 0) return;
    item.place = this.#items.length;
    this.#items.push(item);
  }

  /** Whether it was there. */
  delete(item: Item): boolean {
    const last = this.#items.at(-1);
    if (item.place < 0 || last === undefined) return false;
    this.#items[item.place] = last;
    last.place = item.place;
    item.place = -1;
    this.#items.pop();
    return true;
  }

  /** Changes nothing meanwhile. */
  [Symbol.iterator](): IterableIterator<Item> {
    return this.#items.values();
  }
}
