import { anonymous, type Bus, connectBus, inboxPrefixOf } from "@tenure/bus";
import type { SessionServiceSessionRequest, SessionServiceSessionResponse } from "@tenure/contracts";
import { leaseKey } from "@tenure/core";
import { afterPromises, type Clock, type Random, redactLogins } from "@tenure/kernel";
import { createSessionEngine, type EngineParts, type News, type OpenSession } from "@tenure/session";
import { TenureError, toTenureError } from "../errors.ts";
import type { OwnTerm, Transport, TransportListener, TransportStream } from "../transport/transport.ts";
import { BusNews } from "./bus-news.ts";

/** How components inside the deployment reach NATS. Plain values, so that another thread can do the same. */
export interface NatsOptions {
  /** `nats://` or `tls://` URLs; a URL may carry `user:password@`. */
  readonly servers: readonly string[];
  /** The contents of the user's `.nk` file. */
  readonly nkeySeed?: Uint8Array | undefined;
  /** PEM texts; present means that TLS is required. */
  readonly tls?:
    | { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined }
    | undefined;
  /** The NATS user whose inbox is used; `component` when absent. */
  readonly user?: string | undefined;
  /** Whom the services take the caller for; `anonymous` when absent. */
  readonly principal?: string | undefined;
}

/** What the transport stands on. */
export interface NatsTransportOptions extends NatsOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The connection's name, seen by operators of the NATS servers. */
  readonly name: string;
  readonly version: string;
  /** How long one connect may take. */
  readonly connectTimeoutMs: number;
}

interface Connected {
  readonly bus: Bus;
  readonly parts: EngineParts;
}

const componentUser = "component";

/**
 * The service's side of a session, in the client's own process, straight on the bus: calls go to the owners of their
 * keys without a gateway between. The stream breaks when the bus loses its connection, and the next one opens when it
 * has it again.
 */
export class NatsTransport implements Transport {
  readonly address: string;
  readonly #options: NatsTransportOptions;
  readonly #stop = new AbortController();
  #findTerm: (partition: number, holdId: number) => OwnTerm | undefined = () => undefined;
  #connecting: Promise<Connected> | undefined;

  constructor(options: NatsTransportOptions) {
    this.#options = options;
    this.address = options.servers.map(redactLogins).join(", ");
  }

  open(listener: TransportListener): TransportStream {
    const stream = new NatsStream(listener, this.#options.principal ?? anonymous);
    this.#connect().then(
      ({ bus, parts }) => stream.begin(bus, parts),
      (thrown) => stream.fail(toTenureError(thrown)),
    );
    return stream;
  }

  useTerms(find: (partition: number, holdId: number) => OwnTerm | undefined): void {
    this.#findTerm = find;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const connected = await this.#connecting?.catch(() => undefined);
    await connected?.parts[Symbol.asyncDispose]();
    await connected?.bus.drain();
  }

  #connect(): Promise<Connected> {
    this.#connecting ??= this.#connectOnce().catch((thrown) => {
      this.#connecting = undefined;
      throw thrown;
    });
    return this.#connecting;
  }

  async #connectOnce(): Promise<Connected> {
    const { clock, connectTimeoutMs, name, nkeySeed, random, servers, tls, user, version } = this.#options;
    const inboxPrefix = inboxPrefixOf(user ?? componentUser);
    const bus = await connectBus(
      { servers, name, inboxPrefix, nkeySeed, tls, clock, random, connectTimeoutMs },
      this.#stop.signal,
    );
    const parts = createSessionEngine({ bus, clock, random, instance: bus.instance, version, news: this.#news(bus) });
    return { bus, parts };
  }

  /** News by watching the client's leases; which those are, the client itself knows. */
  #news(bus: Bus): News {
    const { clock, principal = anonymous, random } = this.#options;
    const news = new BusNews({ bus, clock, random, principal });
    return {
      follow: (lease, listener, onRunning) => news.follow(lease, listener, onRunning),
      termOf: (partition, holdId) => {
        const term = this.#findTerm(partition, holdId);
        if (term === undefined) return undefined;
        return { lease: leaseKey(term.lease.namespace, term.lease.name), token: term.token, principal };
      },
    };
  }
}

/** One session with the engine. Messages pass as they are, each in a turn of its own. */
class NatsStream implements TransportStream {
  readonly #listener: TransportListener;
  readonly #principal: string;
  #waiting: SessionServiceSessionRequest[] = [];
  #arrived: SessionServiceSessionResponse[] = [];
  #session: OpenSession | undefined;
  #unfollow: () => void = () => {};
  #isOver = false;

  constructor(listener: TransportListener, principal: string) {
    this.#listener = listener;
    this.#principal = principal;
  }

  /** The bus exists; it may be without connection at present. */
  begin(bus: Bus, parts: EngineParts): void {
    if (this.#isOver) return;
    this.#unfollow = bus.onStatus((status) => {
      if (status === "connected") this.#openOn(parts);
      else this.fail(disconnected(status));
    });
    if (bus.connected) this.#openOn(parts);
  }

  send(message: SessionServiceSessionRequest): boolean {
    if (this.#session === undefined) this.#waiting.push(message);
    else this.#session.receive(message);
    return true;
  }

  /** Ends it from the service's side. */
  fail(why: TenureError): void {
    if (this.#isOver) return;
    this.close();
    this.#listener.onClosed(why);
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unfollow();
    this.#session?.close();
    this.#waiting = [];
    this.#arrived = [];
  }

  #openOn({ engine }: EngineParts): void {
    if (this.#isOver || this.#session !== undefined) return;
    this.#session = engine.open({
      principal: this.#principal,
      send: (message) => this.#onMessage(message),
      end: (fault) => this.fail(fault === undefined ? ended() : toTenureError(fault)),
    });
    for (const message of this.#waiting) this.#session.receive(message);
    this.#waiting = [];
  }

  #onMessage(message: SessionServiceSessionResponse): boolean {
    if (this.#arrived.push(message) > 1) return true;
    // Never within the client's own send: it would meet itself half-way through a change of its state.
    afterPromises(() => {
      const messages = this.#arrived;
      this.#arrived = [];
      for (const arrived of messages) if (!this.#isOver) this.#listener.onMessage(arrived);
    });
    return true;
  }
}

function disconnected(status: string): TenureError {
  const message = `the connection to NATS is ${status}`;
  return new TenureError({ code: "UNAVAILABLE", reason: "BUS_DISCONNECTED", message });
}

function ended(): TenureError {
  return new TenureError({ code: "UNAVAILABLE", reason: "SESSION_BROKEN", message: "the session was ended" });
}
