import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { SessionServiceDefinition } from "@tenure/contracts";
import type { Clock, Random } from "@tenure/kernel";
import type { Transport, TransportListener, TransportStream } from "../transport/transport.ts";
import { type Endpoint, parseEndpoint } from "./endpoint.ts";
import { GrpcStream } from "./grpc-stream.ts";

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

const path = `/${SessionServiceDefinition.fullName}/${SessionServiceDefinition.methods.session.name}`;

/** Room for the largest message of a server, so that flow control does not cut it into round trips. */
const windowBytes = 4 * 1024 * 1024;

/**
 * Sessions over gRPC. Each stream dials anew, on a connection of its own, so that one flooded by watches does not delay
 * another's renewals: the first endpoint is chosen by chance, the next ones in turn.
 */
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
    const connection = this.#connect(endpoint);
    const stream = this.#request(connection);
    const parts = { connection, stream, endpoint: endpoint.target, clock: this.#options.clock };
    const opened: GrpcStream = new GrpcStream({ ...parts, onGone: () => this.#streams.delete(opened) }, listener);
    this.#streams.add(opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#streams].map((stream) => stream.gone()));
  }

  #connect({ isSecure, target }: Endpoint): ClientHttp2Session {
    const { ca, cert, key, serverName } = this.#options.tls ?? {};
    const connection = connect(`${isSecure ? "https" : "http"}://${target}`, {
      settings: { enablePush: false, initialWindowSize: windowBytes },
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(serverName !== undefined && { servername: serverName }),
    });
    // It may have been closed in the very turn in which it connected.
    connection.once("connect", () => connection.destroyed || connection.setLocalWindowSize(windowBytes));
    return connection;
  }

  #request(connection: ClientHttp2Session): ClientHttp2Stream {
    const { metadata, tls, userAgent } = this.#options;
    try {
      return connection.request({
        ":method": "POST",
        ":path": path,
        ...(tls?.serverName !== undefined && { ":authority": tls.serverName }),
        "content-type": "application/grpc",
        "user-agent": userAgent,
        te: "trailers",
        ...metadata,
      });
    } catch (thrown) {
      // Metadata that no HTTP header can hold.
      connection.destroy();
      throw thrown;
    }
  }
}
