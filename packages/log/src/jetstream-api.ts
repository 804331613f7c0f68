import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import type { Bus } from "@tenure/bus";
import { Backoff, type Clock, type Random, systemClock, systemRandom } from "@tenure/kernel";
import { errorCodeOf, toJetStreamFault } from "./jetstream-fault.ts";
import { jetStreamErrorCodes as codes } from "./js-errors.ts";

/** How long one question to JetStream may take. A failover answers late or not at all; we ask again. */
const apiTimeoutMs = 3000;

/** How a question to JetStream is bounded. */
export interface ReadOptions {
  /** How long to go on asking while JetStream has no leader. Default 10 s: a failover takes about 7 s. */
  readonly boundMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly signal?: AbortSignal;
}

/**
 * Asks JetStream until it answers, waiting out a missing leader within the bound. Only for what may be repeated: reads,
 * and the creation of a stream whose settings name its maker. The client itself tries once, and the account is not
 * checked on the way, because that check cannot tell "off" from "no leader yet". `doing` continues the words "cannot".
 */
export async function askJetStream<T>(
  bus: Bus,
  doing: string,
  ask: (manager: JetStreamManager) => Promise<T>,
  options: ReadOptions = {},
): Promise<T> {
  const { boundMs = 10_000, clock = systemClock, random = systemRandom, signal } = options;
  const backoff = new Backoff({ firstMs: 50, limitMs: 1000 }, random);
  const startedAt = clock.now();
  const manager = await jetstreamManager(bus.nats, { checkAPI: false, timeout: apiTimeoutMs });
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await ask(manager);
    } catch (thrown) {
      const fault = toJetStreamFault(bus, thrown, doing);
      const waitMs = backoff.next();
      if (fault.reason !== "JETSTREAM_UNAVAILABLE" || clock.now() - startedAt + waitMs > boundMs) throw fault;
      await clock.sleep(waitMs, signal);
    }
  }
}

/** The answer, or undefined where JetStream says that the stream or message does not exist. */
export async function orAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (thrown) {
    const code = errorCodeOf(thrown);
    if (code === codes.streamNotFound || code === codes.noMessageFound) return undefined;
    throw thrown;
  }
}
