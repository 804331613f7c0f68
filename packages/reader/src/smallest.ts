/** Something with a place in an order. */
export interface Ordered {
  readonly order: string;
}

/**
 * Keeps the smallest of many items, in order, at a cost that hardly depends on how many are kept: what does not fit any
 * more is cut off now and then.
 */
export class Smallest<Item extends Ordered> {
  readonly #most: number;
  #items: Item[] = [];
  /** Nothing at or above this can be among the smallest. */
  #bound: string | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many are kept. */
  get most(): number {
    return this.#most;
  }

  /** Whether an item with this order could be kept: asked before it is made. */
  admits(order: string): boolean {
    return this.#bound === undefined || order < this.#bound;
  }

  add(item: Item): void {
    if (!this.admits(item.order)) return;
    this.#items.push(item);
    if (this.#items.length >= this.#most * 2 + 64) this.#cut();
  }

  /** The smallest, in order. */
  take(): readonly Item[] {
    this.#cut();
    return this.#items;
  }

  #cut(): void {
    this.#items.sort((left, right) => (left.order < right.order ? -1 : left.order > right.order ? 1 : 0));
    if (this.#items.length < this.#most) return;
    this.#items.length = this.#most;
    this.#bound = this.#items.at(-1)?.order;
  }
}
