/** Tells who asks when a partition's ownership changes. */
export class OwnerChanges {
  readonly #listeners = new Map<number, Set<() => void>>();

  /** The owner, the epoch or the hand-over of a partition changed. */
  notify(partition: number): void {
    for (const listener of [...(this.#listeners.get(partition) ?? [])]) listener();
  }

  /** Calls `listener` after each change, until the returned function is called. */
  follow(partition: number, listener: () => void): () => void {
    const listeners = this.#listeners.get(partition) ?? new Set();
    this.#listeners.set(partition, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }
}
