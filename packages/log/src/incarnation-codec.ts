import { Incarnation as IncarnationRecord, timestampFromMicros, timestampToMicros } from "@tenure/contracts";
import type { Incarnation, IncarnationReading } from "./incarnation.ts";

/** The layout of log and snapshots that this build writes and reads. */
export const incarnationFormatVersion = 1;

/** The record's bytes. */
export function encodeIncarnation(incarnation: Incarnation): Uint8Array {
  const { createdAtMicros, restoredFrom = "", createdBy = "", ...rest } = incarnation;
  const createdAt = timestampFromMicros(createdAtMicros);
  return IncarnationRecord.encode({ ...rest, restoredFrom, createdBy, createdAt }).finish();
}

/**
 * What the record's bytes say. The format version is looked at first: a record of an unknown format is not judged by
 * rules that it may not follow.
 */
export function decodeIncarnation(
  bytes: Uint8Array,
): Extract<IncarnationReading, { kind: "present" | "record-malformed" | "format-unknown" }> {
  try {
    const record = IncarnationRecord.decode(bytes);
    const { formatVersion } = record;
    if (formatVersion > incarnationFormatVersion) return { kind: "format-unknown", formatVersion };
    const problem = problemIn(record);
    if (problem !== undefined) return { kind: "record-malformed", problem };
    return { kind: "present", incarnation: incarnationOf(record) };
  } catch (thrown) {
    return { kind: "record-malformed", problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function incarnationOf(record: IncarnationRecord): Incarnation {
  const { id, partitions, firstSequence, formatVersion, restoredFrom, createdBy, createdAt } = record;
  return {
    id,
    createdAtMicros: createdAt === undefined ? 0n : timestampToMicros(createdAt),
    partitions,
    firstSequence,
    formatVersion,
    ...(restoredFrom === "" ? {} : { restoredFrom }),
    ...(createdBy === "" ? {} : { createdBy }),
  };
}

function problemIn({ id, partitions, firstSequence, formatVersion }: IncarnationRecord): string | undefined {
  if (formatVersion === 0) return "it has no format version";
  if (id === "") return "it has no id";
  if (partitions < 1) return "it has no partitions";
  if (firstSequence < 1n || firstSequence >= 1n << 53n) return `its first sequence is ${firstSequence}`;
  return undefined;
}
