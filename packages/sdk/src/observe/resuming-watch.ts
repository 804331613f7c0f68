import {
  type LeaseEvent,
  type LeaseSelector,
  LeaseServiceWatchRequest,
  type LeaseServiceWatchResponse,
  WatchMarkKind,
} from "@tenure/contracts";
import { Backoff, JoinedSignal } from "@tenure/kernel";
import { type TenureError, toTenureError } from "../errors.ts";
import type { ClientContext } from "../instance/client-context.ts";

/** What a watch that never ends by itself gives. */
export type WatchNews =
  | { readonly kind: "event"; readonly event: LeaseEvent }
  /** What was known before must be forgotten: the present state follows. */
  | { readonly kind: "restart" }
  /** The present state is complete. */
  | { readonly kind: "synced" };

/** Waits between two tries of a watch that fails again and again. */
const retry = { firstMs: 100, limitMs: 5_000 };

const noToken = new Uint8Array();

/** Which leases to follow, and how. */
export interface WatchInput {
  readonly selectors: readonly LeaseSelector[];
  readonly includeRenewals?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Follows leases for ever: resumes after every break with the token of the last response, so that no change is lost or
 * told twice, and starts over with the present state when the token is too old. Ends when the signal is aborted.
 */
export async function* watchLeases(context: ClientContext, input: WatchInput): AsyncGenerator<WatchNews> {
  using ending = new JoinedSignal([input.signal, context.closing]);
  const { signal } = ending;
  const { session } = context;
  const backoff = new Backoff(retry, session.random);
  const place = new WatchPlace();
  while (!signal.aborted) {
    try {
      for await (const response of session.stream("LeaseService.Watch", place.request(input), { signal })) {
        backoff.reset();
        // Not `yield*`, which makes another asynchronous iterator of it, for every response.
        for (const news of newsOf(response)) yield news;
        place.note(response);
      }
    } catch (thrown) {
      if (signal.aborted) return;
      place.noteFailure(toTenureError(thrown));
    }
    if (place.isLost) yield { kind: "restart" };
    await session.clock.sleep(backoff.next(), signal).catch(() => undefined);
  }
}

/** Where a watch stands. A token from within the present state would skip the rest of it: only a later one resumes. */
class WatchPlace {
  #token: Uint8Array = noToken;
  #isSynced = false;

  /** Whether the next stream begins with the present state. */
  get isLost(): boolean {
    return this.#token.length === 0;
  }

  request({ selectors, includeRenewals = false }: WatchInput): LeaseServiceWatchRequest {
    return LeaseServiceWatchRequest.fromPartial({ selectors, options: { resumeToken: this.#token, includeRenewals } });
  }

  note({ position }: LeaseServiceWatchResponse): void {
    const mark = position?.mark?.kind;
    if (mark === WatchMarkKind.RESYNC) this.#isSynced = false;
    if (mark === WatchMarkKind.SYNCED) this.#isSynced = true;
    this.#token = this.#isSynced ? (position?.resumeToken.slice() ?? noToken) : noToken;
  }

  /** Throws the failure on when no further try can mend it. */
  noteFailure(error: TenureError): void {
    if (isTokenRefused(error)) {
      this.#isSynced = false;
      this.#token = noToken;
    } else if (!isWorthResuming(error)) throw error;
  }
}

function* newsOf(response: LeaseServiceWatchResponse): Iterable<WatchNews> {
  for (const event of response.events) yield { kind: "event", event };
  const mark = response.position?.mark?.kind;
  if (mark === WatchMarkKind.RESYNC) yield { kind: "restart" };
  if (mark === WatchMarkKind.SYNCED) yield { kind: "synced" };
}

function isTokenRefused({ code, reason }: TenureError): boolean {
  return code === "OUT_OF_RANGE" || reason === "TOKEN_INVALID";
}

const resumableCodes: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "RESOURCE_EXHAUSTED",
  "DEADLINE_EXCEEDED",
  "ABORTED",
  "INTERNAL",
  "UNKNOWN",
]);

/** Whether the stream may go well the next time: not when the request or the caller's rights are wrong. */
function isWorthResuming(error: TenureError): boolean {
  return error.reason !== "SESSION_CLOSED" && (error.retryable || resumableCodes.has(error.code));
}
