import type { Hold } from "../record/hold.ts";

const leastCapacity = 16;
/** An odd number near 2^32 divided by the golden ratio: it spreads numbers that follow each other. */
const multiplier = 0x9e3779b1;

/**
 * The running terms of a partition by their ids. An id stands in its term already, so that a term costs a place or two
 * in a list and not an entry of a map.
 */
export class HoldIndex {
  #size = 0;
  /** A power of two of places. A term stands at the place of its id's hash, or as soon after it as there was room. */
  #places: (Hold | undefined)[] = emptyPlaces(leastCapacity);

  get size(): number {
    return this.#size;
  }

  get(id: number): Hold | undefined {
    return this.#places[this.#find(id)];
  }

  /** Adds a term, instead of one of the same id. */
  add(hold: Hold): void {
    const place = this.#find(hold.id);
    if (this.#places[place] === undefined) this.#size += 1;
    this.#places[place] = hold;
    if (this.#size * 4 > this.#places.length * 3) this.#resize(this.#places.length * 2);
  }

  delete(id: number): void {
    const place = this.#find(id);
    if (this.#places[place] === undefined) return;
    this.#places[place] = undefined;
    this.#size -= 1;
    this.#closeGap(place);
    const capacity = this.#places.length;
    if (capacity > leastCapacity && this.#size * 8 < capacity) this.#resize(capacity / 2);
  }

  /** All terms, in no order. */
  *values(): Generator<Hold, void, void> {
    for (const hold of this.#places) if (hold !== undefined) yield hold;
  }

  /** All ids, in no order. */
  *keys(): Generator<number, void, void> {
    for (const { id } of this.values()) yield id;
  }

  /** The place of the term with this id, or the one where it would be put. */
  #find(id: number): number {
    const places = this.#places;
    let place = this.#home(id);
    for (let hold = places[place]; hold !== undefined && hold.id !== id; hold = places[place]) {
      place = (place + 1) & (places.length - 1);
    }
    return place;
  }

  #home(id: number): number {
    // `| 0` takes the lowest 32 bits of any whole number below 2^53.
    return (Math.imul(id | 0, multiplier) >>> 8) & (this.#places.length - 1);
  }

  /** Moves what stands behind an emptied place only because it was taken. */
  #closeGap(emptied: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let gap = emptied;
    for (let place = (gap + 1) & mask; ; place = (place + 1) & mask) {
      const hold = places[place];
      if (hold === undefined) return;
      const isBehindGap = ((place - this.#home(hold.id)) & mask) >= ((place - gap) & mask);
      if (!isBehindGap) continue;
      places[gap] = hold;
      places[place] = undefined;
      gap = place;
    }
  }

  #resize(capacity: number): void {
    const holds = this.#places;
    this.#places = emptyPlaces(capacity);
    for (const hold of holds) if (hold !== undefined) this.#places[this.#find(hold.id)] = hold;
  }
}

function emptyPlaces(capacity: number): (Hold | undefined)[] {
  return new Array<Hold | undefined>(capacity).fill(undefined);
}
