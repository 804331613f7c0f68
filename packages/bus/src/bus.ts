import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock, Random } from "@tenure/kernel";

/** How a process reaches NATS. */
export interface BusOptions {
  /** `nats://` or `tls://` URLs; a URL may carry `user:password@`. */
  readonly servers: readonly string[];
  /** The connection's name, seen by operators of the NATS server. */
  readonly name: string;
  /** `_INBOX_<user>`: the only inboxes that the NATS user may subscribe to. */
  readonly inboxPrefix: string;
  /** The contents of the user's `.nk` file. */
  readonly nkeySeed?: Uint8Array | undefined;
  /** PEM texts; present means that TLS is required. */
  readonly tls?:
    | { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined }
    | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** The overall bound of the first connect, in milliseconds; later the bus reconnects for ever. */
  readonly connectTimeoutMs: number;
  /** Told of failures that belong to no call, such as a permission violation or a listener that threw: for the log. */
  readonly onFault?: ((fault: unknown) => void) | undefined;
}

/** What a bus says about its connection. `closed` is final. */
export type BusStatus = "connected" | "disconnected" | "closed";

/**
 * One connection to NATS. It is either connected, and then messages flow, or it is not, and then everything is refused
 * at once: nothing is ever kept back to be sent later, because a late message could act for a caller that has gone.
 */
export interface Bus extends AsyncDisposable {
  /** Unique, subject-safe id of this connection. */
  readonly instance: string;
  readonly connected: boolean;
  /** Version of the server that the bus is or was last connected to. */
  readonly serverVersion: string;
  /** The largest message that the server takes, headers included. */
  readonly maxPayloadBytes: number;
  /** The client's connection, for the log package only. */
  readonly nats: NatsConnection;
  /** Tells of every later change of the connection; returns what ends that. */
  onStatus(listener: (status: BusStatus) => void): () => void;
  /** Sends one message to whoever listens. Throws UNAVAILABLE while disconnected, RESOURCE_EXHAUSTED when too large. */
  publish(subject: string, payload: Uint8Array): void;
  /** Listens, across reconnects, until the returned function is called. A listener that throws is reported, not fatal. */
  subscribe(subject: string, listener: (payload: Uint8Array, subject: string) => void): () => void;
  /**
   * Resolves when the server has seen everything that was sent before: a server that has flushed after `serve` is found
   * by every later call. Rejects with UNAVAILABLE when the connection is or goes down.
   */
  flush(): Promise<void>;
  /** Fails what is under way, flushes what was sent, and closes. Idempotent and bounded. */
  drain(): Promise<void>;
}
