/**
 * Items by name, where they come and go. A Map does to them what `NumberedItems` says; here it holds a slot for each,
 * which is emptied when the item goes, so that the tables that the map leaves behind keep nothing of it alive.
 */
export class NamedItems<Item, Name extends string | number = string> {
  readonly #slots = new Map<Name, { item: Item | undefined }>();

  get size(): number {
    return this.#slots.size;
  }

  get(name: Name): Item | undefined {
    return this.#slots.get(name)?.item;
  }

  /** Takes an item in, in the place of one that has the name. */
  set(name: Name, item: Item): void {
    const slot = this.#slots.get(name);
    if (slot === undefined) this.#slots.set(name, { item });
    else slot.item = item;
  }

  /** Takes an item out; gives it back if it was there. */
  delete(name: Name): Item | undefined {
    const slot = this.#slots.get(name);
    if (slot === undefined) return undefined;
    this.#slots.delete(name);
    const { item } = slot;
    slot.item = undefined;
    return item;
  }

  /** A copy, oldest name first. */
  get all(): readonly Item[] {
    const items: Item[] = [];
    for (const { item } of this.#slots.values()) if (item !== undefined) items.push(item);
    return items;
  }

  clear(): void {
    for (const name of [...this.#slots.keys()]) this.delete(name);
  }
}
