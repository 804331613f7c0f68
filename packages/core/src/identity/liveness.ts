import type { LeaseRecord } from "../record/lease.ts";
import { elapsedMs } from "../record/position.ts";
import { annotations } from "./record.ts";

/**
 * Whether an instance is alive. Two clocks are kept apart: `live` and `silent` count missed beats, for people and
 * elections; `expired` counts the validity, for collection. `gone` has left or was collected.
 */
export type Liveness = "live" | "silent" | "expired" | "gone";

/** Beats that must be missed before an instance counts as silent. */
export const missedBeats = 3;

/** What is seen of an instance, on the clock of the replica that looks. */
export interface LifeSight {
  /** Ms of the last beat, as this replica saw it; undefined when no term runs. */
  readonly beatAtMs: number | undefined;
  /** When the last term was seen to end, if none runs. */
  readonly endedAtMs: number;
  readonly isDeparted: boolean;
  readonly beatIntervalMs: number;
  readonly validityMs: number;
}

/** What a record says about its instance's life. */
export function lifeSightOf(record: LeaseRecord, beatIntervalMs: number): LifeSight {
  const hold = record.holds.at(-1);
  return {
    beatAtMs: hold?.renewal.seenAtMs,
    endedAtMs: record.freeSince.seenAtMs,
    isDeparted: hold === undefined && departureOf(record) !== undefined,
    beatIntervalMs,
    validityMs: hold?.leaseDurationMs ?? record.spec.leaseDurationMs,
  };
}

/** How an instance went: by itself, or by being collected; undefined when it did not. */
export function departureOf(record: LeaseRecord): "left" | "collected" | undefined {
  if (record.holds.length > 0) return undefined;
  if (record.spec.annotations[annotations.departed] !== undefined) return "collected";
  return record.lastEndReason === "released" ? "left" : undefined;
}

/** Whether an instance is alive at an instant. */
export function livenessAt(sight: LifeSight, now: number): Liveness {
  if (sight.isDeparted) return "gone";
  if (sight.beatAtMs === undefined) return "expired";
  const silentForMs = Math.max(0, now - sight.beatAtMs);
  if (silentForMs >= sight.validityMs) return "expired";
  return silentForMs >= missedBeats * sight.beatIntervalMs ? "silent" : "live";
}

/** Ms until {@link livenessAt} says something else if nothing is heard; undefined when it never does. */
export function untilLivenessChangesMs(sight: LifeSight, now: number): number | undefined {
  const { beatAtMs, beatIntervalMs, validityMs } = sight;
  const liveness = livenessAt(sight, now);
  if (beatAtMs === undefined || liveness === "gone" || liveness === "expired") return undefined;
  const afterMs = liveness === "live" ? Math.min(missedBeats * beatIntervalMs, validityMs) : validityMs;
  return Math.max(0, beatAtMs + afterMs - now);
}

/** Since when an instance has been past its validity; undefined when it is not. Late rather than early. */
export function expiredSinceMs(sight: LifeSight, now: number): number | undefined {
  if (livenessAt(sight, now) !== "expired") return undefined;
  return sight.beatAtMs === undefined ? sight.endedAtMs : sight.beatAtMs + sight.validityMs;
}

/** Ms since the last beat was seen, or since the last term was seen to end. */
export function beatAgeMs(record: LeaseRecord, now: number): number {
  const hold = record.holds.at(-1);
  return elapsedMs(hold === undefined ? record.freeSince : hold.renewal, now);
}
