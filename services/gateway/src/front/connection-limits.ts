import type { Clock } from "@tenure/kernel";
import { limitExceeded, RateLimit } from "@tenure/session";

/** What one connection may do. */
export interface ConnectionLimitsOptions {
  readonly clock: Clock;
  /** Calls and streams that may be open at once. */
  readonly streamsPerConnection: number;
  /** Calls and messages of streams per second, on average over a second; 0 is no limit. */
  readonly requestsPerSecond: number;
}

interface Connection {
  open: number;
  readonly rate: RateLimit;
  usedAtMs: number;
}

/** A connection without calls for this long is forgotten: its rate would be full again. */
const forgottenAfterMs = 1_000;
/** Idle connections are looked for when this many are known, and again whenever that has doubled. */
const firstSweep = 1_024;

/** Counts the calls of each connection and refuses those beyond its limits, by name. */
export class ConnectionLimits {
  readonly #options: ConnectionLimitsOptions;
  readonly #connections = new Map<string, Connection>();
  #sweepAt = firstSweep;

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options;
  }

  /** How many connections are known. */
  get size(): number {
    return this.#connections.size;
  }

  /** Lets a call of a connection begin, or throws RESOURCE_EXHAUSTED. Returns what is to be called when it is over. */
  admit(peer: string): () => void {
    const { clock, streamsPerConnection } = this.#options;
    const connection = this.#of(peer);
    if (connection.open >= streamsPerConnection) {
      const text = `${connection.open} calls of this connection are open: end some, or open another connection`;
      throw limitExceeded("streams-per-connection", streamsPerConnection, text);
    }
    this.#take(connection);
    connection.open += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      connection.open -= 1;
      connection.usedAtMs = clock.now();
    };
  }

  /** Lets one more message of an open stream pass, or throws RESOURCE_EXHAUSTED. */
  count(peer: string): void {
    this.#take(this.#of(peer));
  }

  #take(connection: Connection): void {
    const { clock, requestsPerSecond } = this.#options;
    connection.usedAtMs = clock.now();
    if (connection.rate.take()) return;
    const text = `this connection makes more than ${requestsPerSecond} calls a second`;
    throw limitExceeded("requests-per-second", requestsPerSecond, text, Math.max(1, connection.rate.retryAfterMs));
  }

  #of(peer: string): Connection {
    const known = this.#connections.get(peer);
    if (known !== undefined) return known;
    if (this.#connections.size >= this.#sweepAt) this.#sweep();
    const { clock, requestsPerSecond } = this.#options;
    const connection = { open: 0, rate: new RateLimit(clock, requestsPerSecond), usedAtMs: clock.now() };
    this.#connections.set(peer, connection);
    return connection;
  }

  #sweep(): void {
    const oldestMs = this.#options.clock.now() - forgottenAfterMs;
    for (const [peer, { open, usedAtMs }] of this.#connections) {
      if (open === 0 && usedAtMs < oldestMs) this.#connections.delete(peer);
    }
    this.#sweepAt = Math.max(firstSweep, this.#connections.size * 2);
  }
}
