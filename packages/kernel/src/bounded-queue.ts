/**
 * Hands items from one producer to one consumer, in order, holding at most `capacity`. `push` never waits: it says
 * `false` when the queue is full or ended, and the producer decides what that means. A failure is delivered after the
 * items that came before it.
 */
export class BoundedQueue<Item extends {}> implements AsyncIterable<Item> {
  readonly #capacity: number;
  readonly #items: Item[] = [];
  #ended = false;
  #failure: { readonly reason: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Adds an item; `false` when it was not taken. */
  push(item: Item): boolean {
    if (this.#ended || this.#items.length >= this.#capacity) return false;
    this.#items.push(item);
    this.#wake?.();
    return true;
  }

  /** No more items: the consumer finishes after what is queued. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** The consumer gets what is queued, then this failure. The first end or failure wins. */
  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#failure = { reason };
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (;;) {
      for (let item = this.#items.shift(); item !== undefined; item = this.#items.shift()) yield item;
      if (this.#failure !== undefined) throw this.#failure.reason;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
