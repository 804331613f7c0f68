import { createHash } from "node:crypto";
import { clientIdPattern, durationToMs, type SessionHello } from "@tenure/contracts";
import { type FieldViolation, invalid } from "@tenure/kernel";

/** A renew key is a secret of the client's making; this is far more than any hash needs. */
const mostRenewKeyBytes = 1_024;
const defaultBeatMs = 2_000;
const defaultTimeoutMs = 2_000;
const beatLimitsMs = { least: 10, most: 60_000 };
/** The client is given up after this many times the silence that makes its waits skipped: it may only be slow. */
const patience = 3;

/** What a client said of itself. */
export interface Greeting {
  readonly clientId: string;
  /** SHA-256 of the renew key; empty if it has shown none. The key itself is not kept. */
  readonly renewKeyHash: Uint8Array;
  /** The highest revision that the client has seen. */
  readonly minRevision: bigint;
  /** How long the client may be silent before the session is ended, in milliseconds. */
  readonly silenceMs: number;
  /** Whether the client takes one reply for several streams. */
  readonly sharedReplies: boolean;
}

/** Reads a client's greeting; throws INVALID_ARGUMENT with every broken rule. */
export function readGreeting({
  beatInterval,
  clientId,
  minRevision,
  renewKey,
  requestTimeout,
  sharedReplies,
}: SessionHello): Greeting {
  const violations: FieldViolation[] = [];
  const reject = (field: string, rule: string, value: string) => violations.push({ field, rule, value });
  if (!clientIdPattern.test(clientId)) {
    reject("hello.client_id", "must be 1 to 128 bytes of [A-Za-z0-9._-]", JSON.stringify(clientId.slice(0, 140)));
  }
  if (renewKey.length > mostRenewKeyBytes) {
    reject("hello.renew_key", `must have at most ${mostRenewKeyBytes} bytes`, `${renewKey.length} bytes`);
  }
  const beatMs = beatInterval === undefined ? defaultBeatMs : durationToMs(beatInterval);
  const timeoutMs = requestTimeout === undefined ? defaultTimeoutMs : durationToMs(requestTimeout);
  const { least, most } = beatLimitsMs;
  for (const [field, ms] of [
    ["hello.beat_interval", beatMs],
    ["hello.request_timeout", timeoutMs],
  ] as const) {
    if (!(ms >= least && ms <= most)) reject(field, `must be from ${least}ms to ${most / 1_000}s`, `${ms}ms`);
  }
  if (violations.length > 0) throw invalid(violations);
  const renewKeyHash = renewKey.length === 0 ? new Uint8Array(0) : createHash("sha256").update(renewKey).digest();
  return { clientId, renewKeyHash, minRevision, silenceMs: patience * (2 * beatMs + timeoutMs), sharedReplies };
}
