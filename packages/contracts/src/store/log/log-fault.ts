import { Fault } from "@tenure/kernel";
import type { Reading } from "../reading.ts";

/** A reader that meets this stops and applies nothing: a newer program wrote it. */
export function formatTooNew(what: string, why: string): Fault {
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "FORMAT_TOO_NEW",
    message: `${what} was written by a newer version: ${why}; upgrade this program`,
  });
}

/** A reader that meets this stops and raises an alarm: what is stored is not what was written. */
export function malformedRecord(what: string, cause: unknown): Fault {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Fault({ code: "DATA_LOSS", reason: "MALFORMED_MESSAGE", message: `${what} is malformed: ${why}`, cause });
}

/** Stops a reader that met values which this version does not know. */
export function requireKnown(what: string, reading: Reading): void {
  if (!reading.isBroken) return;
  const why = reading.violations.map(({ field, rule, value }) => `${field} ${rule} (got ${value})`).join("; ");
  throw formatTooNew(what, why);
}
