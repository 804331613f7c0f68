import type { Event, LeaseKey, PartitionState } from "@tenure/core";

/**
 * The names of a partition in order, so that a page of a list costs what it shows and not what the partition has. Made
 * when a list first asks for it, and kept up with every batch from then on.
 */
export class NameIndex {
  #names: LeaseKey[] | undefined;

  /** All names that the state has, in order. */
  of({ leases }: PartitionState): readonly LeaseKey[] {
    this.#names ??= [...leases.keys()].sort();
    return this.#names;
  }

  /** A batch was applied. */
  note(events: readonly Event[], state: PartitionState): void {
    if (this.#names === undefined) return;
    for (const event of events) if ("lease" in event) this.#keepUp(this.#names, event.lease, state);
  }

  /** What a batch touched is not known. */
  forget(): void {
    this.#names = undefined;
  }

  #keepUp(names: LeaseKey[], key: LeaseKey, { leases }: PartitionState): void {
    const place = placeOf(names, key);
    const isListed = names[place] === key;
    if (leases.has(key) === isListed) return;
    if (isListed) names.splice(place, 1);
    else names.splice(place, 0, key);
  }
}

/** Where the first name is that is not below a text. */
export function placeOf(names: readonly string[], text: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] ?? "") < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
