import {
  type ServiceDefinition as GrpcService,
  Server,
  ServerCredentials,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { type Clock, Fault } from "@tenure/kernel";
import { HealthImplementation } from "grpc-health-check";

/** The largest request, as the security rules set it: a record is at most 16 KiB, so 64 KiB is generous. */
const maxRequestBytes = 64 * 1024;

/** The most streams of one connection; a client that needs more opens another. */
const maxStreamsPerConnection = 100;

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
  /** Describes every service, for reflection. */
  readonly descriptors: Uint8Array;
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

/** Starts a gRPC server with the standard health and reflection services beside the given ones. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const server = new Server({
    "grpc.max_receive_message_length": maxRequestBytes,
    "grpc.max_concurrent_streams": maxStreamsPerConnection,
  });
  for (const { definition, handlers } of options.entries) server.addService(definition, handlers);
  new ReflectionService(loadFileDescriptorSetFromBuffer(Buffer.from(options.descriptors))).addToServer(server);
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
