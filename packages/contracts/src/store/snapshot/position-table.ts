import type { StoredPosition } from "@tenure/core";
import type { SnapshotPositions } from "../../gen/tenure/log/v1/snapshot_record.ts";

/** How many positions one record takes, so that records stay small enough to be read one at a time. */
export const positionsPerRecord = 4_096;

/** One part of the table of positions. */
export function positionsToWire(positions: readonly StoredPosition[]): SnapshotPositions {
  const sequences: bigint[] = [];
  const walls: number[] = [];
  let previous = 0n;
  for (const { sequence, wallMs } of positions) {
    sequences.push(sequence - previous);
    walls.push(wallMs);
    previous = sequence;
  }
  return { sequences, walls };
}

/** Adds one part to the table of positions. */
export function addPositions(table: StoredPosition[], { sequences, walls }: SnapshotPositions): void {
  if (sequences.length !== walls.length) {
    throw new Error(`${sequences.length} positions have ${walls.length} times`);
  }
  let sequence = 0n;
  sequences.forEach((difference, index) => {
    sequence += difference;
    table.push({ sequence, wallMs: walls[index] ?? 0 });
  });
}
