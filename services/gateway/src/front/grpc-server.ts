import {
  type ServiceDefinition as GrpcService,
  Server,
  ServerCredentials,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { type Clock, Fault } from "@tenure/kernel";
import { HealthImplementation } from "grpc-health-check";

/** More than any message that the handlers take: they refuse what is too large with a typed fault. */
const maxMessageBytes = 4 * 1024 * 1024;

/** HTTP/2 streams beyond the limit that the handlers refuse by name; past these the connection itself refuses. */
const spareStreams = 100;

/**
 * Connections are asked for a sign of life this often, in milliseconds, and dropped without one: a peer that has gone
 * without a word would keep its socket for ever otherwise.
 */
const keepaliveMs = { every: 10_000, timeout: 5_000 };

/** One gRPC service and its handlers. */
export interface GrpcEntry {
  readonly fullName: string;
  readonly definition: GrpcService;
  readonly handlers: UntypedServiceImplementation;
}

/** How the server is reached and what it serves. */
export interface GrpcServerOptions {
  readonly host: string;
  readonly port: number;
  /** PEM texts; absent serves without TLS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly entries: readonly GrpcEntry[];
  /** Calls and streams that one connection may have open, as the handlers count them. */
  readonly streamsPerConnection: number;
  readonly clock: Clock;
  /** How long open calls may take when the server stops, in milliseconds. */
  readonly stopGraceMs: number;
}

/** A listening gRPC server. Disposing of it finishes open calls within the grace, then cuts them. */
export interface GrpcServer extends AsyncDisposable {
  readonly port: number;
  /** Answers the standard health service: for the server as a whole and for each service. */
  setServing(serving: boolean): void;
}

/** Starts a gRPC server with the standard health service beside the given ones. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_concurrent_streams": options.streamsPerConnection + spareStreams,
    "grpc.keepalive_time_ms": keepaliveMs.every,
    "grpc.keepalive_timeout_ms": keepaliveMs.timeout,
  });
  for (const { definition, handlers } of options.entries) server.addService(definition, handlers);
  const health = addHealth(server, options.entries);
  const port = await bind(server, options);
  return {
    port,
    setServing: health,
    async [Symbol.asyncDispose]() {
      health(false);
      await shutDown(server, options);
    },
  };
}

function addHealth(server: Server, entries: readonly GrpcEntry[]): (serving: boolean) => void {
  const names = ["", ...entries.map(({ fullName }) => fullName)];
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, "NOT_SERVING"])));
  health.addToServer(server);
  return (serving) => {
    for (const name of names) health.setStatus(name, serving ? "SERVING" : "NOT_SERVING");
  };
}

function bind(server: Server, { host, port, tls }: GrpcServerOptions): Promise<number> {
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
  const address = `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(cannotListen(address, error));
    });
  });
}

function cannotListen(address: string, cause: Error): Fault {
  const isTaken = cause.message.includes("EADDRINUSE");
  const what = isTaken ? "is in use by another process" : `cannot be used: ${cause.message}`;
  const message = `gRPC address ${address} ${what}; choose another with --grpc-port or --grpc-host`;
  return new Fault({ code: "UNAVAILABLE", reason: "PORT_TAKEN", message, cause });
}

/** Lets open calls finish within the grace, then cuts what is left. */
function shutDown(server: Server, { clock, stopGraceMs }: GrpcServerOptions): Promise<void> {
  return new Promise((resolve) => {
    const cut = clock.schedule(stopGraceMs, () => server.forceShutdown());
    server.tryShutdown(() => {
      cut.cancel();
      resolve();
    });
  });
}
