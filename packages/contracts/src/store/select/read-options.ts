import { ReadConsistency, type ReadOptions } from "../../gen/tenure/v1/read.ts";
import type { Reading } from "../reading.ts";

const known: ReadonlySet<number> = new Set(Object.values(ReadConsistency));

/** Rejects a freshness that this version does not know: it could promise less than was asked for. */
export function checkRead(reading: Reading, read: ReadOptions | undefined): void {
  if (read === undefined || known.has(read.consistency)) return;
  reading.reject("read.consistency", "must be a value that this version knows", String(read.consistency));
}
