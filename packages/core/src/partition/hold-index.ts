import type { Hold } from "../record/hold.ts";

/** So many that terms which come and go by the dozen do not have it grow and shrink with every batch. */
const leastCapacity = 256;
/** An odd number near 2^32 divided by the golden ratio: it spreads numbers that follow each other. */
const multiplier = 0x9e3779b1;

/** Stands for the id at a place without a term. */
const noId = -1;

/**
 * The running terms of a partition by their ids. Ids stand in a list of their own, so that a search looks at no term but
 * the one that it finds: where terms are very many, each is a wait for memory.
 */
export class HoldIndex {
  #size = 0;
  /** A power of two of places. A term stands at the place of its id's hash, or as soon after it as there was room. */
  #places: (Hold | undefined)[] = emptyPlaces(leastCapacity);
  /** The id of the term at each place. */
  #ids = emptyIds(leastCapacity);

  get size(): number {
    return this.#size;
  }

  get(id: number): Hold | undefined {
    return this.#places[this.#find(id)];
  }

  /**
   * The terms with these ids. Looking them up one right after the other lets the processor fetch many at once, which
   * counts where the terms are so many that none of them is in its cache.
   */
  getEach(ids: readonly number[]): readonly (Hold | undefined)[] {
    return ids.map((id) => this.get(id));
  }

  /** Adds a term, instead of one of the same id. */
  add(hold: Hold): void {
    const place = this.#find(hold.id);
    if (this.#places[place] === undefined) this.#size += 1;
    this.#put(place, hold);
    if (this.#size * 4 > this.#places.length * 3) this.#resize(this.#places.length * 2);
  }

  delete(id: number): void {
    const place = this.#find(id);
    if (this.#places[place] === undefined) return;
    this.#put(place, undefined);
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
    const ids = this.#ids;
    const mask = ids.length - 1;
    let place = this.#home(id);
    for (let found = ids[place]; found !== noId && found !== id; found = ids[place]) place = (place + 1) & mask;
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
      this.#put(gap, hold);
      this.#put(place, undefined);
      gap = place;
    }
  }

  #resize(capacity: number): void {
    const holds = this.#places;
    this.#places = emptyPlaces(capacity);
    this.#ids = emptyIds(capacity);
    for (const hold of holds) if (hold !== undefined) this.#put(this.#find(hold.id), hold);
  }

  #put(place: number, hold: Hold | undefined): void {
    this.#places[place] = hold;
    this.#ids[place] = hold?.id ?? noId;
  }
}

function emptyPlaces(capacity: number): (Hold | undefined)[] {
  return new Array<Hold | undefined>(capacity).fill(undefined);
}

function emptyIds(capacity: number): Float64Array {
  return new Float64Array(capacity).fill(noId);
}
