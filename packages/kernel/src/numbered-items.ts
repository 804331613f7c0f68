import { NamedItems } from "./named-items.ts";

/** Places of a ring at first, and at most: an idle one costs little, a busy one keeps thousands without a map. */
const fewestPlaces = 16;
const mostPlaces = 4_096;

/**
 * Items by growing whole numbers from 1, such as calls by the number that their answer names. Where items come and go a
 * Map is the wrong place: when it makes its table anew, which it does after as many deletions as it has entries, the old
 * table keeps what it had alive until the next full garbage collection, so that everything short-lived grows old. Here
 * each item has its place in a ring; only one that is still there when the ring has gone round moves to a map.
 */
export class NumberedItems<Item extends object> {
  #numbers: number[] = new Array<number>(fewestPlaces).fill(0);
  #items: (Item | undefined)[] = new Array<Item | undefined>(fewestPlaces).fill(undefined);
  readonly #lapped = new NamedItems<readonly [number: number, item: Item], number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Takes an item in, under a number that was never used. */
  set(number: number, item: Item): void {
    while (this.#items[this.#placeOf(number)] !== undefined) this.#makeRoom(this.#placeOf(number));
    const place = this.#placeOf(number);
    this.#numbers[place] = number;
    this.#items[place] = item;
    this.#size += 1;
  }

  get(number: number): Item | undefined {
    const place = this.#placeOf(number);
    if (this.#numbers[place] === number) return this.#items[place];
    return this.#lapped.size === 0 ? undefined : this.#lapped.get(number)?.[1];
  }

  /** Takes an item out; gives it back if it was there. */
  delete(number: number): Item | undefined {
    const item = this.get(number);
    if (item === undefined) return undefined;
    const place = this.#placeOf(number);
    if (this.#numbers[place] === number) this.#items[place] = undefined;
    else this.#lapped.delete(number);
    this.#size -= 1;
    return item;
  }

  clear(): void {
    this.#items.fill(undefined);
    this.#lapped.clear();
    this.#size = 0;
  }

  /** All entries as they are now, in no order; what the consumer changes does not show. */
  entries(): readonly (readonly [number: number, item: Item])[] {
    const entries: (readonly [number, Item])[] = [...this.#lapped.all];
    this.#items.forEach((item, place) => {
      if (item !== undefined) entries.push([this.#numbers[place] ?? 0, item]);
    });
    return entries;
  }

  #placeOf(number: number): number {
    return number & (this.#items.length - 1);
  }

  /** A crowded ring grows; in one that is large, or mostly empty, the item that is in the way moves out. */
  #makeRoom(place: number): void {
    const numbers = this.#numbers;
    const items = this.#items;
    const isCrowded = this.#size * 2 > items.length;
    if (isCrowded && items.length < mostPlaces) {
      this.#numbers = new Array<number>(items.length * 2).fill(0);
      this.#items = new Array<Item | undefined>(items.length * 2).fill(undefined);
      items.forEach((item, from) => {
        if (item === undefined) return;
        const number = numbers[from] ?? 0;
        this.#numbers[this.#placeOf(number)] = number;
        this.#items[this.#placeOf(number)] = item;
      });
      return;
    }
    const item = items[place];
    const number = numbers[place] ?? 0;
    if (item !== undefined) this.#lapped.set(number, [number, item]);
    items[place] = undefined;
  }
}
