import {
  DrainingConnectionError,
  type MsgHdrs,
  type NatsConnection,
  NatsConnectionImpl,
  PermissionViolationError,
  type PublishOptions,
  type Status,
} from "@nats-io/transport-node";
import { type Clock, type Dated, Deadlines, type Fault, randomBase58 } from "@tenure/kernel";
import type { Bus, BusOptions, BusStatus } from "./bus.ts";
import { CallBatches } from "./call-batches.ts";
import { busClosed, busDisconnected, natsPermissionDenied, payloadTooLarge } from "./faults.ts";
import { Inbox } from "./inbox.ts";

/** Base58 digits of an instance id: 70 bits, so that two connections never share one. */
const instanceDigits = 12;

/** How long a drain may take before the connection is simply closed. */
const drainLimitMs = 5_000;

/** The bus over one NATS connection; callers see it as {@link Bus}. */
export class BusConnection implements Bus {
  readonly instance: string;
  readonly nats: NatsConnection;
  readonly clock: Clock;
  readonly inbox: Inbox;
  readonly batches: CallBatches;
  /** Of the unary calls that wait for their answers. */
  readonly deadlines: Deadlines<Dated>;
  readonly #listeners = new Set<(status: BusStatus) => void>();
  readonly #onFault: (fault: unknown) => void;
  #status: BusStatus = "connected";
  #serverVersion = "";
  #maxPayloadBytes = 0;
  #closing: Promise<void> | undefined;

  constructor(nats: NatsConnection, options: BusOptions) {
    this.nats = nats;
    this.clock = options.clock;
    this.instance = randomBase58(options.random, instanceDigits);
    this.#onFault = options.onFault ?? (() => undefined);
    this.#readServer();
    this.inbox = new Inbox(nats, `${options.inboxPrefix}.${this.instance}`, (fault) => this.report(fault));
    this.batches = new CallBatches(this);
    this.deadlines = new Deadlines(options.clock);
    void this.#followStatus(nats.status());
  }

  /** The client forgets its server before it dials the next one, a moment before it says that it is disconnected. */
  get connected(): boolean {
    return this.#status === "connected" && this.nats.info !== undefined && this.#closing === undefined;
  }

  get serverVersion(): string {
    return this.nats.info?.version ?? this.#serverVersion;
  }

  /** A server whose configuration is reloaded may change it while it is connected. */
  get maxPayloadBytes(): number {
    return this.nats.info?.max_payload ?? this.#maxPayloadBytes;
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    const own = (status: BusStatus): void => listener(status);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  publish(subject: string, payload: Uint8Array): void {
    this.assertConnected(`publish to ${subject}`);
    const limitBytes = this.maxPayloadBytes;
    if (payload.byteLength > limitBytes) {
      throw payloadTooLarge(`the message to ${subject}`, payload.byteLength, limitBytes, "NO");
    }
    this.nats.publish(subject, payload);
  }

  subscribe(subject: string, listener: (payload: Uint8Array, subject: string) => void): () => void {
    if (this.#closing !== undefined) throw busClosed(`subscribe to ${subject}`, "NO");
    const subscription = this.nats.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) return this.report(natsPermissionDenied("subscribe to", subject));
        try {
          listener(message.data, message.subject);
        } catch (thrown) {
          this.report(thrown);
        }
      },
    });
    return () => {
      if (!this.nats.isClosed() && !subscription.isClosed()) subscription.unsubscribe();
    };
  }

  async flush(): Promise<void> {
    this.assertConnected("flush");
    try {
      await this.nats.flush();
    } catch {
      throw busDisconnected("flush", "UNKNOWN");
    }
  }

  drain(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.drain();
  }

  /** Throws UNAVAILABLE, applied NO, unless messages flow. */
  assertConnected(what: string): void {
    if (this.connected) return;
    throw this.#closing !== undefined || this.#status === "closed"
      ? busClosed(what, "NO")
      : busDisconnected(what, "NO");
  }

  /** Sends a message whose size the caller has checked; `false` when the connection is down and nothing was sent. */
  send(subject: string, payload: Uint8Array, reply?: string, headers?: MsgHdrs): boolean {
    if (this.#status !== "connected" || this.nats.info === undefined || this.nats.isClosed()) return false;
    const options: PublishOptions = {};
    if (reply !== undefined) options.reply = reply;
    if (headers !== undefined) options.headers = headers;
    try {
      this.nats.publish(subject, payload, options);
      return true;
    } catch (error) {
      // The last step of a drain takes no more messages.
      if (error instanceof DrainingConnectionError) return false;
      throw error;
    }
  }

  /** Hands a failure that belongs to no call to whoever logs. */
  report(fault: unknown): void {
    this.#onFault(fault);
  }

  async #close(): Promise<void> {
    const wasConnected = this.#status === "connected" && this.nats.info !== undefined;
    this.inbox.failAll("closed");
    this.deadlines.stop();
    // While disconnected there is nothing to flush, and the client's drain would wait for a server.
    if (wasConnected) await this.#bounded(this.nats.drain());
    await this.nats.close();
    this.#change("closed");
  }

  async #bounded(drained: Promise<void>): Promise<void> {
    const limit = new AbortController();
    const settled = drained.catch(() => undefined).finally(() => limit.abort());
    await Promise.race([settled, this.clock.sleep(drainLimitMs, limit.signal).catch(() => undefined)]);
  }

  async #followStatus(statuses: AsyncIterable<Status>): Promise<void> {
    for await (const status of statuses) {
      if (status.type === "staleConnection") this.#cutSocket();
      if (status.type === "disconnect" || status.type === "staleConnection") this.#change("disconnected");
      else if (status.type === "reconnect") this.#change("connected");
      else if (status.type === "error") this.#onServerError(status.error);
    }
    this.#change("closed");
  }

  /**
   * A connection that answers no pings is cut off here. The client would first wait until its socket has taken all that
   * was written, which a server that reads nothing delays for minutes, and which would then arrive late.
   */
  #cutSocket(): void {
    if (!(this.nats instanceof NatsConnectionImpl)) return;
    void this.nats.protocol.transport.close(new Error("the server answered no pings"));
  }

  #change(status: BusStatus): void {
    if (this.#status === status || this.#status === "closed") return;
    this.#status = status;
    if (status === "connected") {
      this.#readServer();
      this.inbox.reopen();
    } else this.inbox.failAll(status);
    for (const listener of [...this.#listeners]) {
      try {
        listener(status);
      } catch (thrown) {
        this.report(thrown);
      }
    }
  }

  #readServer(): void {
    this.#serverVersion = this.serverVersion;
    this.#maxPayloadBytes = this.maxPayloadBytes;
  }

  /** A forbidden publish is reported by the server later, with its subject only: the calls to it fail at once. */
  #onServerError(error: Error): void {
    if (!(error instanceof PermissionViolationError)) {
      this.report(error);
      return;
    }
    if (error.operation !== "publish") return;
    const fault: Fault = natsPermissionDenied("publish to", error.subject);
    this.inbox.failAll(fault, error.subject);
    this.report(fault);
  }
}

/** The connection behind a bus that `connectBus` made. */
export function connectionOf(bus: Bus): BusConnection {
  if (bus instanceof BusConnection) return bus;
  throw new TypeError("calls need a bus made by connectBus");
}
