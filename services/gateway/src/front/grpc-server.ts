import {
  type ServiceDefinition as GrpcService,
  Server,
  ServerCredentials,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { type Clock, Fault, toFault } from "@tenure/kernel";
import { HealthImplementation } from "grpc-health-check";
import type { TlsFiles } from "../config.ts";
import { maxMessageBytes } from "./front-context.ts";
import { openPort, type ServeSession, type SharedPort } from "./shared-port.ts";

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
  /** Absent serves without TLS. */
  readonly tls?: TlsFiles | undefined;
  readonly entries: readonly GrpcEntry[];
  /** Serves a connection that says that it is one session. */
  readonly serveSession: ServeSession;
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
    port: port.number,
    setServing: health,
    async [Symbol.asyncDispose]() {
      health(false);
      await shutDown(server, port, options);
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

/** Connections of stock clients go to the library, which need not know of TLS. */
async function bind(server: Server, { clock, host, port, serveSession, tls }: GrpcServerOptions): Promise<SharedPort> {
  const { injectConnection } = server.createConnectionInjector(ServerCredentials.createInsecure());
  try {
    return await openPort({ host, port, tls, clock, serveSession, serveOther: injectConnection });
  } catch (thrown) {
    throw cannotListen(`${host}:${port}`, toFault(thrown));
  }
}

function cannotListen(address: string, cause: Error): Fault {
  const isTaken = cause.message.includes("EADDRINUSE");
  const what = isTaken ? "is in use by another process" : `cannot be used: ${cause.message}`;
  const message = `gRPC address ${address} ${what}; choose another with --grpc-port or --grpc-host`;
  return new Fault({ code: "UNAVAILABLE", reason: "PORT_TAKEN", message, cause });
}

/** Lets open calls finish within the grace, then cuts what is left. */
async function shutDown(server: Server, port: SharedPort, { clock, stopGraceMs }: GrpcServerOptions): Promise<void> {
  const cut = clock.schedule(stopGraceMs, () => {
    server.forceShutdown();
    port.cut();
  });
  await Promise.all([port.close(), new Promise<unknown>((resolve) => server.tryShutdown(resolve))]);
  cut.cancel();
}
