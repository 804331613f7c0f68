import { parseDuration } from "@tenure/kernel";
import { TenureError, toTenureError } from "../errors.ts";

/** A duration: whole milliseconds, or text such as `250ms`, `10s` or `1m30s`. */
export type DurationInput = number | string;

/**
 * Milliseconds of a duration. It is honoured exactly or refused, never rounded: text must come to whole milliseconds
 * too (statement 25).
 */
export function toMs(input: DurationInput, field: string): number {
  const durationMs = typeof input === "number" ? input : parse(input, field);
  if (Number.isSafeInteger(durationMs) && durationMs >= 0) return durationMs;
  const rule = "must be whole milliseconds, 0 or more, or text such as 250ms, 10s or 1m30s";
  throw optionError(field, rule, String(input));
}

/** The error of an option that breaks a rule. */
export function optionError(field: string, rule: string, value: string): TenureError {
  return new TenureError({
    code: "INVALID_ARGUMENT",
    reason: "OPTION_INVALID",
    message: `${field} ${rule} (got ${value})`,
    details: { violations: [{ field, rule, value }] },
  });
}

function parse(text: string, field: string): number {
  try {
    return parseDuration(text, field);
  } catch (error) {
    throw toTenureError(error);
  }
}
