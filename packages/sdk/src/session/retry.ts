import type { TenureError } from "../errors.ts";

/** Refusals for want of room that pass by themselves; other limits do not. */
const passingLimits: ReadonlySet<string> = new Set(["RATE_LIMITED", "TOO_MANY_CALLS"]);

/**
 * Whether the same change, with the same attempt, should be sent again: its outcome is not known, or it surely did not
 * happen for a reason that passes. What the store decided is never asked again, also if it says when to come back.
 */
export function isWorthAnotherSend({ applied, code, reason }: TenureError): boolean {
  if (code === "UNAVAILABLE") return reason !== "SESSION_CLOSED";
  if (code === "DEADLINE_EXCEEDED") return applied === "UNKNOWN";
  return code === "RESOURCE_EXHAUSTED" && passingLimits.has(reason);
}
