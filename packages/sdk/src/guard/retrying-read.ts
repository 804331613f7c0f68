import { Backoff } from "@tenure/kernel";
import type { RequestOf, ResponseOf, UnaryMethod } from "../calls/methods.ts";
import { toTenureError } from "../errors.ts";
import type { ClientContext } from "../instance/client-context.ts";
import { toMs } from "../timing/duration-input.ts";
import type { RequestOptions } from "./guard.ts";

/** What a call needs of its client. */
export type CallContext = Pick<ClientContext, "callTimeoutMs" | "session">;

/** Waits between two tries. */
const retry = { firstMs: 50, limitMs: 1_000 };

/** Reads, again and again while that may help and time is left: a read changes nothing, so it may be repeated freely. */
export async function read<Method extends UnaryMethod>(
  { session, callTimeoutMs }: CallContext,
  method: Method,
  request: RequestOf<Method>,
  options: RequestOptions,
): Promise<ResponseOf<Method>> {
  const { clock } = session;
  const endsAtMs = clock.now() + (options.timeout === undefined ? callTimeoutMs : toMs(options.timeout, "timeout"));
  const backoff = new Backoff(retry, session.random);
  for (;;) {
    try {
      const timeoutMs = Math.max(1, endsAtMs - clock.now());
      return await session.call(method, request, { signal: options.signal, timeoutMs });
    } catch (thrown) {
      const error = toTenureError(thrown);
      const pauseMs = Math.max(backoff.next(), error.details.retryAfterMs ?? 0);
      if (!error.retryable || clock.now() + pauseMs >= endsAtMs) throw error;
      await clock.sleep(pauseMs, options.signal).catch(() => Promise.reject(error));
    }
  }
}
