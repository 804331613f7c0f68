import { Fault } from "@tenure/kernel";
import type { Duration } from "./gen/google/protobuf/duration.ts";

/** What a protobuf duration may hold at most: about 10,000 years either way. */
export const maxSeconds = 315_576_000_000;

const nanosPerMs = 1_000_000;

/**
 * A wire duration of milliseconds. Whole milliseconds are exact; a fraction is rounded to the nanosecond. What a
 * protobuf duration cannot hold is refused, never cut short.
 */
export function durationFromMs(durationMs: number): Duration {
  const wholeSeconds = Math.trunc(durationMs / 1000);
  if (!Number.isFinite(durationMs) || Math.abs(durationMs) > maxSeconds * 1000) {
    throw outOfRange(`${durationMs} ms`);
  }
  const nanos = Math.round((durationMs - wholeSeconds * 1000) * nanosPerMs);
  // Rounding may carry: 999.9999999 ms is one second.
  const carry = Math.trunc(nanos / 1_000_000_000);
  // Adding 0 turns the -0 of a negative remainder that rounded away into 0.
  return { seconds: BigInt(wholeSeconds + carry), nanos: nanos - carry * 1_000_000_000 + 0 };
}

/**
 * Milliseconds of a wire duration, with a fraction where it has one. A duration that breaks protobuf's own rules
 * (range, or seconds and nanoseconds of different sign) is refused.
 */
export function durationToMs(duration: Duration): number {
  const { seconds, nanos } = duration;
  const isInRange = seconds >= -BigInt(maxSeconds) && seconds <= BigInt(maxSeconds) && Math.abs(nanos) <= 999_999_999;
  const isOneSign = !(seconds > 0n && nanos < 0) && !(seconds < 0n && nanos > 0);
  if (!isInRange || !isOneSign) throw outOfRange(`${seconds} s and ${nanos} ns`);
  return Number(seconds) * 1000 + nanos / nanosPerMs;
}

function outOfRange(value: string): Fault {
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: "INVALID_FIELD",
    message: `a duration must be within ${maxSeconds} s either way and of one sign (got ${value})`,
  });
}
