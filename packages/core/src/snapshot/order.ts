import type { Position } from "../record/position.ts";
import type { PositionIndex } from "./types.ts";

/** Turns a position into its place in the snapshot's table. */
export type Place = (position: Position) => PositionIndex;

/** Orders by key, by code unit and not by locale. */
export function byKey(left: { readonly key: string }, right: { readonly key: string }): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
}
