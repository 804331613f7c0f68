import type { Bus } from "@tenure/bus";
import { type Clock, Fault, systemClock } from "@tenure/kernel";
import { privateInbox } from "./inbox.ts";

/** How long a scatter-gather request listens. */
export interface GatherOptions {
  /** The most it waits, whatever comes. */
  readonly maxWaitMs: number;
  /** Asked after each reply: enough is enough. */
  readonly isComplete?: (replies: readonly Uint8Array[]) => boolean;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/**
 * Asks everyone who listens on `subject` and gathers what they answer, in the order of arrival. Nobody listening
 * gives an empty list at once. Used for the `$SYS` requests that every NATS server answers for itself.
 */
export async function requestMany(
  bus: Bus,
  subject: string,
  payload: Uint8Array,
  options: GatherOptions,
): Promise<readonly Uint8Array[]> {
  options.signal?.throwIfAborted();
  if (!bus.connected) throw notConnected(subject);
  const clock = options.clock ?? systemClock;
  const replies: Uint8Array[] = [];
  const enough = new AbortController();
  const inbox = privateInbox(bus);
  const subscription = bus.nats.subscribe(inbox, {
    callback: (error, message) => {
      if (error !== null || message.headers?.code === 503) return enough.abort();
      replies.push(message.data);
      if (options.isComplete?.(replies) === true) enough.abort();
    },
  });
  try {
    bus.nats.publish(subject, payload, { reply: inbox });
    const stop = options.signal === undefined ? enough.signal : AbortSignal.any([enough.signal, options.signal]);
    await clock.sleep(options.maxWaitMs, stop).catch(() => {});
  } finally {
    if (!bus.nats.isClosed()) subscription.unsubscribe();
  }
  options.signal?.throwIfAborted();
  return replies;
}

function notConnected(subject: string): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "BUS_DISCONNECTED",
    message: `cannot ask ${subject}: not connected to NATS`,
    details: { applied: "NO" },
  });
}
