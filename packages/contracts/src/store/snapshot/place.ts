import type { PositionIndex } from "@tenure/core";

/** A place in a table as a snapshot has it: from 1, because 0 is none. */
export function placeOf(index: PositionIndex | undefined): number {
  return index === undefined ? 0 : index + 1;
}

/** The index of a place; undefined for none. */
export function indexOf(place: number): PositionIndex | undefined {
  return place === 0 ? undefined : place - 1;
}
