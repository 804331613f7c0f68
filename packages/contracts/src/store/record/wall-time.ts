import type { Position } from "@tenure/core";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.ts";
import { timestampFromMicros, timestampFromMs } from "../../timestamp.ts";

/** The last time that was asked for: the records of one batch have the same, and answers show it several times. */
let lastWallMs = Number.NaN;
let lastTimestamp: Timestamp | undefined;

/** When a batch was written, by its writer's wall clock; for people. */
export function timeOf({ wallMs }: Position): Timestamp {
  if (wallMs !== lastWallMs || lastTimestamp === undefined) {
    lastTimestamp = timestampFromMs(wallMs);
    lastWallMs = wallMs;
  }
  return lastTimestamp;
}

/** A time as a client wrote it; otherwise that of a batch. */
export function writtenTimeOf(micros: bigint | undefined, position: Position): Timestamp {
  return micros === undefined ? timeOf(position) : timestampFromMicros(micros);
}
