import type { WrittenTimes as CoreWrittenTimes } from "@tenure/core";
import { toFault } from "@tenure/kernel";
import { durationFromMs, durationToMs } from "../../duration.ts";
import type { Duration } from "../../gen/google/protobuf/duration.ts";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.ts";
import type { WrittenTimes } from "../../gen/tenure/log/v1/hold_event.ts";
import { timestampFromMicros, timestampToMicros } from "../../timestamp.ts";
import type { Reading } from "../reading.ts";

/** How many durations are remembered: a deployment uses few, and a wire duration costs an object and a bigint. */
const mostDurations = 1_024;
const durations = new Map<number, Duration>();

/** A duration on the wire. The object is shared: nobody changes a message. */
export function durationToWire(durationMs: number): Duration {
  const known = durations.get(durationMs);
  if (known !== undefined) return known;
  const duration = durationFromMs(durationMs);
  // Only whole seconds and the like repeat; what is left of a term hardly ever does.
  if (durations.size < mostDurations && durationMs % 50 === 0) durations.set(durationMs, duration);
  return duration;
}

/** A duration that may be absent on the wire. */
export function optionalDurationToWire(durationMs: number | undefined): Duration | undefined {
  return durationMs === undefined ? undefined : durationToWire(durationMs);
}

/** A duration from the wire; absent is `fallbackMs`. One that breaks protobuf's own rules is rejected. */
export function durationFromWire<T>(
  reading: Reading,
  field: string,
  duration: Duration | undefined,
  fallbackMs: T,
): number | T {
  if (duration === undefined) return fallbackMs;
  try {
    return durationToMs(duration);
  } catch (thrown) {
    reading.reject(field, toFault(thrown).message, `${duration.seconds} s and ${duration.nanos} ns`);
    return 0;
  }
}

/** As {@link durationFromWire}, for durations whose bounds nobody else judges: whole ms, and not negative. */
export function periodFromWire<T>(
  reading: Reading,
  field: string,
  duration: Duration | undefined,
  fallbackMs: T,
): number | T {
  const durationMs = durationFromWire(reading, field, duration, fallbackMs);
  if (typeof durationMs === "number" && !(durationMs >= 0 && Number.isSafeInteger(durationMs))) {
    reading.reject(field, "must not be negative, and in whole milliseconds", `${durationMs} ms`);
  }
  return durationMs;
}

/** Times of day as a client wrote them, on the wire; absent if there are none. */
export function writtenTimesToWire(times: CoreWrittenTimes | undefined): WrittenTimes | undefined {
  if (times === undefined) return undefined;
  const { acquiredAtMicros, renewedAtMicros } = times;
  return {
    acquiredAt: acquiredAtMicros === undefined ? undefined : timestampFromMicros(acquiredAtMicros),
    renewedAt: renewedAtMicros === undefined ? undefined : timestampFromMicros(renewedAtMicros),
  };
}

/** Times of day as a client wrote them. `field` is the path of the message that has both. */
export function writtenTimesFromWire(
  reading: Reading,
  field: string,
  { acquiredAt, renewedAt }: WrittenTimes,
): CoreWrittenTimes {
  const acquiredAtMicros = microsFromWire(reading, `${field}.acquired_at`, acquiredAt);
  const renewedAtMicros = microsFromWire(reading, `${field}.renewed_at`, renewedAt);
  return {
    ...(acquiredAtMicros === undefined ? undefined : { acquiredAtMicros }),
    ...(renewedAtMicros === undefined ? undefined : { renewedAtMicros }),
  };
}

function microsFromWire(reading: Reading, field: string, timestamp: Timestamp | undefined): bigint | undefined {
  if (timestamp === undefined) return undefined;
  try {
    return timestampToMicros(timestamp);
  } catch {
    const value = `${timestamp.seconds} s and ${timestamp.nanos} ns`;
    reading.reject(field, "must lie within the years 1 to 9999, with 0 to 999999999 nanoseconds", value);
    return undefined;
  }
}
