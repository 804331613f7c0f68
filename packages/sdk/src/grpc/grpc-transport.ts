import { isIP, connect as openPlain, type Socket } from "node:net";
import { connect as openSecure } from "node:tls";
import { SessionServiceDefinition } from "@tenure/contracts";
import type { Clock, Random } from "@tenure/kernel";
import { clientOpening } from "@tenure/session/http2";
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
  /** Sent with the session's request, such as an `authorization` for a proxy in front. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** What the transport stands on. */
export interface GrpcTransportOptions extends GrpcOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly userAgent: string;
}

const path = `/${SessionServiceDefinition.fullName}/${SessionServiceDefinition.methods.session.name}`;

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
    // Before anything is dialled: metadata may be such as no header can hold.
    const opening = this.#opening(endpoint);
    const parts = { socket: this.#connect(endpoint), opening, endpoint: endpoint.target, clock: this.#options.clock };
    const opened: GrpcStream = new GrpcStream({ ...parts, onGone: () => this.#streams.delete(opened) }, listener);
    this.#streams.add(opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#streams].map((stream) => stream.gone()));
  }

  #connect({ host, isSecure, port }: Endpoint): Socket {
    if (!isSecure) return openPlain({ host, port, noDelay: true });
    const { ca, cert, key, serverName } = this.#options.tls ?? {};
    const name = serverName ?? (isIP(host) === 0 ? host : undefined);
    const socket = openSecure({
      host,
      port,
      ALPNProtocols: ["h2"],
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(name !== undefined && { servername: name }),
    });
    socket.setNoDelay(true);
    return socket.once("secureConnect", () => {
      if (socket.alpnProtocol !== "h2") socket.destroy(new Error("it does not speak HTTP/2"));
    });
  }

  #opening({ isSecure, target }: Endpoint): Buffer {
    const { metadata = {}, tls, userAgent } = this.#options;
    const own = Object.entries(metadata).map(([name, value]) => [name.toLowerCase(), value]);
    return clientOpening({
      ":method": "POST",
      ":scheme": isSecure ? "https" : "http",
      ":authority": tls?.serverName ?? target,
      ":path": path,
      "content-type": "application/grpc",
      "user-agent": userAgent,
      te: "trailers",
      ...Object.fromEntries(own),
    });
  }
}
