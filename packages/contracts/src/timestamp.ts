import { invalid } from "@tenure/kernel";
import type { Timestamp } from "./gen/google/protobuf/timestamp.ts";

const microsPerSecond = 1_000_000n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z: what a protobuf timestamp may hold. */
const minMicros = -62_135_596_800_000_000n;
const maxMicros = 253_402_300_799_999_999n;

const timePattern =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{3}|\d{6}|\d{9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** A wire timestamp of microseconds since 1970 UTC. Exact; outside the years 1 to 9999 it is refused. */
export function timestampFromMicros(micros: bigint): Timestamp {
  requireRange(micros, "timestamp");
  const seconds = floorDivide(micros, microsPerSecond);
  return { seconds, nanos: Number(micros - seconds * microsPerSecond) * 1000 };
}

/** Microseconds since 1970 UTC of a wire timestamp; what is finer is dropped, towards the past. */
export function timestampToMicros(timestamp: Timestamp): bigint {
  const { seconds, nanos } = timestamp;
  if (nanos < 0 || nanos > 999_999_999) {
    throw invalid([{ field: "timestamp.nanos", rule: "must be 0 to 999999999", value: String(nanos) }]);
  }
  const micros = seconds * microsPerSecond + BigInt(Math.floor(nanos / 1000));
  requireRange(micros, "timestamp");
  return micros;
}

/** A wire timestamp of milliseconds since 1970 UTC, as wall clocks give them; a fraction is kept to the microsecond. */
export function timestampFromMs(wallMs: number): Timestamp {
  if (!Number.isFinite(wallMs)) {
    throw invalid([{ field: "timestamp", rule: "must be a finite number of milliseconds", value: String(wallMs) }]);
  }
  const wholeMs = Math.floor(wallMs);
  return timestampFromMicros(BigInt(wholeMs) * 1000n + BigInt(Math.floor((wallMs - wholeMs) * 1000)));
}

/** RFC 3339 text in UTC with exactly six fractional digits, for example `2026-03-01T12:00:00.000000Z`. */
export function formatTimestamp(timestamp: Timestamp): string {
  const micros = timestampToMicros(timestamp);
  const seconds = floorDivide(micros, microsPerSecond);
  const fraction = String(micros - seconds * microsPerSecond).padStart(6, "0");
  // Whole seconds of the years 1 to 9999 are exact in a Date, whose text has a four-digit year.
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}

/**
 * A timestamp of RFC 3339 text with no fraction or one of 3, 6 or 9 digits and any offset, brought to UTC and
 * microseconds. `field` names it in the refusal.
 */
export function parseTimestamp(text: string, field = "timestamp"): Timestamp {
  const match = timePattern.exec(text);
  if (match === null) throw malformed(text, field);
  const [, year, month, day, hour, minute, second, fraction = "", sign, offsetHour, offsetMinute] = match;
  const seconds = secondsOfDay(Number(hour), Number(minute), Number(second));
  const days = daysOfDate(Number(year), Number(month), Number(day));
  const offsetMinutes = minutesOfOffset(sign, Number(offsetHour ?? 0), Number(offsetMinute ?? 0));
  if (seconds === undefined || days === undefined || offsetMinutes === undefined) throw malformed(text, field);
  const utcSeconds = BigInt(days) * 86_400n + BigInt(seconds - offsetMinutes * 60);
  const micros = utcSeconds * microsPerSecond + BigInt(fraction.padEnd(6, "0").slice(0, 6));
  requireRange(micros, field);
  return timestampFromMicros(micros);
}

function secondsOfDay(hour: number, minute: number, second: number): number | undefined {
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return hour * 3600 + minute * 60 + second;
}

/** Days since 1970; undefined for a day that the calendar does not have, which Date would silently carry over. */
function daysOfDate(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() / 86_400_000 : undefined;
}

function minutesOfOffset(sign: string | undefined, hour: number, minute: number): number | undefined {
  if (hour > 23 || minute > 59) return undefined;
  return (sign === "-" ? -1 : 1) * (hour * 60 + minute);
}

function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
}

function requireRange(micros: bigint, field: string): void {
  if (micros >= minMicros && micros <= maxMicros) return;
  throw invalid([{ field, rule: "must lie within the years 1 to 9999", value: `${micros} microseconds since 1970` }]);
}

function malformed(text: string, field: string): Error {
  const rule = "must be RFC 3339, for example 2026-03-01T12:00:00.000000Z, with 0, 3, 6 or 9 fractional digits";
  return invalid([{ field, rule, value: JSON.stringify(text.slice(0, 64)) }]);
}
