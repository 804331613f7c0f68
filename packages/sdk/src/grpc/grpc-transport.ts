import { Client, type ClientDuplexStream, credentials, Metadata } from "@grpc/grpc-js";
import {
  SessionServiceDefinition,
  SessionServiceSessionRequest,
  SessionServiceSessionResponse,
} from "@tenure/contracts";
import type { Clock, Random } from "@tenure/kernel";
import { type TenureError, toTenureError } from "../errors.ts";
import type { Transport, TransportListener, TransportStream } from "../transport/transport.ts";
import { type Endpoint, parseEndpoint } from "./endpoint.ts";
import { errorFromStatus } from "./status-error.ts";

/** How gateways are reached. Plain values, so that another thread can do the same. */
export interface GrpcOptions {
  /** `host:port`, `http://host:port` or `https://host:port`; several are tried in turn, from a random one on. */
  readonly endpoints: readonly string[];
  /** PEM texts. Present, also empty, means TLS; `cert` and `key` together authenticate the client. */
  readonly tls?:
    | {
        readonly ca?: string | undefined;
        readonly cert?: string | undefined;
        readonly key?: string | undefined;
        /** The name that the certificate must have, if it is not the endpoint's host. */
        readonly serverName?: string | undefined;
      }
    | undefined;
  /** Sent with the session's request, such as an `authorization`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** What the transport stands on. */
export interface GrpcTransportOptions extends GrpcOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly userAgent: string;
}

type SessionDuplex = ClientDuplexStream<SessionServiceSessionRequest, SessionServiceSessionResponse>;

const path = `/${SessionServiceDefinition.fullName}/${SessionServiceDefinition.methods.session.name}`;

/** A dead connection is noticed within 15 s even if nothing is sent; the session's own beats notice earlier. */
const channelOptions = {
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  // A session has a connection of its own, so that one flooded by watches does not delay another's renewals.
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_retries": 0,
  "grpc.service_config_disable_resolution": 1,
  // The server bounds what it sends; this only keeps a broken one from filling the memory.
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
};

/** How long a closed stream may take to end by itself. */
const endGraceMs = 500;

/** Sessions over gRPC. Each stream dials anew: the first endpoint is chosen by chance, the next ones in turn. */
export class GrpcTransport implements Transport {
  readonly address: string;
  readonly #options: GrpcTransportOptions;
  readonly #endpoints: readonly Endpoint[];
  readonly #streams = new Set<GrpcStream>();
  #next: number;

  constructor(options: GrpcTransportOptions) {
    const { endpoints, random, tls } = options;
    this.#options = options;
    this.#endpoints = endpoints.map((text) => parseEndpoint(text, tls !== undefined));
    this.address = this.#endpoints.map(({ target }) => target).join(", ");
    this.#next = Math.floor(random.next() * this.#endpoints.length);
  }

  open(listener: TransportListener): TransportStream {
    const endpoint = this.#endpoints[this.#next % this.#endpoints.length] ?? parseEndpoint("", false);
    this.#next += 1;
    const client = new Client(endpoint.target, this.#credentials(endpoint), {
      ...channelOptions,
      "grpc.primary_user_agent": this.#options.userAgent,
      ...(this.#options.tls?.serverName !== undefined && {
        "grpc.ssl_target_name_override": this.#options.tls.serverName,
        "grpc.default_authority": this.#options.tls.serverName,
      }),
    });
    const stream: GrpcStream = new GrpcStream(client, this.#duplex(client), endpoint.target, listener, {
      clock: this.#options.clock,
      onGone: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return stream;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#streams].map((stream) => stream.gone()));
  }

  #credentials({ isSecure }: Endpoint) {
    if (!isSecure) return credentials.createInsecure();
    const { ca, cert, key } = this.#options.tls ?? {};
    return credentials.createSsl(bytesOf(ca), bytesOf(key), bytesOf(cert));
  }

  #duplex(client: Client): SessionDuplex {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(this.#options.metadata ?? {})) metadata.set(name, value);
    return client.makeBidiStreamRequest(
      path,
      (message: SessionServiceSessionRequest) => bufferOf(SessionServiceSessionRequest.encode(message).finish()),
      (bytes: Buffer) => SessionServiceSessionResponse.decode(bytes),
      metadata,
    );
  }
}

/** One session's stream and the connection under it. */
class GrpcStream implements TransportStream {
  readonly #client: Client;
  readonly #duplex: SessionDuplex;
  readonly #clock: Clock;
  readonly #onGone: () => void;
  readonly #listener: TransportListener;
  #isClosed = false;
  #isGone = false;
  #whenGone: (() => void)[] = [];

  constructor(
    client: Client,
    duplex: SessionDuplex,
    endpoint: string,
    listener: TransportListener,
    { clock, onGone }: { readonly clock: Clock; readonly onGone: () => void },
  ) {
    this.#client = client;
    this.#duplex = duplex;
    this.#clock = clock;
    this.#onGone = onGone;
    this.#listener = listener;
    duplex.on("data", (message: SessionServiceSessionResponse) => this.#isClosed || listener.onMessage(message));
    duplex.on("drain", () => this.#isClosed || listener.onWritable());
    // The status follows and says the same with its details.
    duplex.on("error", () => {});
    duplex.on("status", (status) => this.#over(errorFromStatus(status, endpoint)));
  }

  send(message: SessionServiceSessionRequest): boolean {
    if (this.#isClosed) return false;
    try {
      return this.#duplex.write(message);
    } catch (thrown) {
      queueMicrotask(() => this.#over(toTenureError(thrown)));
      return false;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#duplex.end();
    const grace = this.#clock.schedule(endGraceMs, () => this.#duplex.cancel());
    this.#whenGone.push(() => grace.cancel());
    if (this.#isGone) for (const act of this.#whenGone) act();
  }

  /** Resolves when the connection is closed. */
  gone(): Promise<void> {
    this.close();
    return new Promise<void>((resolve) => {
      if (this.#isGone) resolve();
      else this.#whenGone.push(resolve);
    });
  }

  #over(why: TenureError): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#client.close();
    this.#onGone();
    for (const act of this.#whenGone) act();
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener.onClosed(why);
  }
}

function bytesOf(pem: string | undefined): Buffer | null {
  return pem === undefined ? null : Buffer.from(pem);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
