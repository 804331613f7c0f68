import { Fault } from "@tenure/kernel";
import type { RateLimit } from "./rate-limit.ts";

/** What one session may take. Each limit is refused by its name. */
export interface SessionLimits {
  /** Calls that may be open at once, streams included. */
  readonly openCalls: number;
  /** Server streams that may be open at once. */
  readonly streams: number;
  /** Calls, ping answers and messages with renewals per second, on average over a second; 0 is no limit. */
  readonly callsPerSecond: number;
  /** The largest message that the server takes. */
  readonly messageBytes: number;
  /** Bytes that may wait for a client that reads slowly; beyond it the session is cut off. */
  readonly queuedBytes: number;
}

/** A client of thousands of leases fits; one that runs wild is stopped. */
export const defaultSessionLimits: SessionLimits = Object.freeze({
  openCalls: 10_000,
  streams: 1_000,
  callsPerSecond: 50_000,
  messageBytes: 1024 * 1024,
  queuedBytes: 16 * 1024 * 1024,
});

/** The fault of a limit that was hit; nothing was done. */
export function limitExceeded(name: string, value: number, message: string, retryAfterMs?: number): Fault {
  return new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: retryAfterMs === undefined ? "LIMIT_EXCEEDED" : "RATE_LIMITED",
    message,
    details: {
      applied: "NO",
      limit: { name, value: BigInt(value) },
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  });
}

/** The fault of a client that asks too much too fast. */
export function tooFast(callsPerSecond: number, { retryAfterMs }: Pick<RateLimit, "retryAfterMs">): Fault {
  const text = `the session makes more than ${callsPerSecond} calls a second`;
  return limitExceeded("requests-per-second", callsPerSecond, text, Math.max(1, retryAfterMs));
}
