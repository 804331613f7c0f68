import { mostHoldsPerGroup, type RenewalGroup } from "@tenure/contracts";

/** Something with the id of a hold. */
interface Identified {
  readonly holdId: number;
}

/**
 * The holds of one partition that are renewed together, in the ascending order that packed renewals need. Ids grow with
 * the log, so adding is nearly always at the end.
 */
export class HoldSet<Entry extends Identified> {
  readonly #ids: number[] = [];
  readonly #entries: Entry[] = [];

  get size(): number {
    return this.#ids.length;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  get(holdId: number): Entry | undefined {
    const place = this.#placeOf(holdId);
    return this.#ids[place] === holdId ? this.#entries[place] : undefined;
  }

  /** The entries of these ids, which ascend. */
  among(holdIds: readonly number[]): readonly Entry[] {
    const found: Entry[] = [];
    let place = this.#placeOf(holdIds[0] ?? 0);
    for (const holdId of holdIds) {
      while ((this.#ids[place] ?? Number.POSITIVE_INFINITY) < holdId) place += 1;
      const entry = this.#entries[place];
      if (entry?.holdId === holdId) found.push(entry);
    }
    return found;
  }

  /** Adds an entry; one with the same id is replaced. */
  set(entry: Entry): void {
    const place = this.#placeOf(entry.holdId);
    const replaced = this.#ids[place] === entry.holdId ? 1 : 0;
    this.#ids.splice(place, replaced, entry.holdId);
    this.#entries.splice(place, replaced, entry);
  }

  delete(holdId: number): void {
    const place = this.#placeOf(holdId);
    if (this.#ids[place] !== holdId) return;
    this.#ids.splice(place, 1);
    this.#entries.splice(place, 1);
  }

  /** The set itself if it has no such entry, and another of the rest otherwise. */
  without(isLeftOut: (entry: Entry) => boolean): HoldSet<Entry> {
    if (!this.#entries.some(isLeftOut)) return this;
    const rest = new HoldSet<Entry>();
    for (const entry of this.#entries) if (!isLeftOut(entry)) rest.set(entry);
    return rest;
  }

  /** All ids as groups of a send. */
  groups(partition: number, sendNumber: number): RenewalGroup[] {
    if (this.#ids.length <= mostHoldsPerGroup) {
      return this.#ids.length === 0 ? [] : [{ partition, sendNumber, holdIds: this.#ids }];
    }
    const groups: RenewalGroup[] = [];
    for (let start = 0; start < this.#ids.length; start += mostHoldsPerGroup) {
      groups.push({ partition, sendNumber, holdIds: this.#ids.slice(start, start + mostHoldsPerGroup) });
    }
    return groups;
  }

  /** The first place whose id is not below this one. */
  #placeOf(holdId: number): number {
    const last = this.#ids.at(-1);
    if (last === undefined || last < holdId) return this.#ids.length;
    let low = 0;
    let high = this.#ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] ?? 0) < holdId) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
