import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Fault } from "@tenure/kernel";
import { type Router, sendText } from "./router.ts";

/** Where to listen, and what to answer with. */
export interface HttpServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly router: Router;
  /** Told about a handler that threw; the client gets a 500 without its text. */
  onError(thrown: unknown): void;
}

/** A server that listens. Disposing of it ends open connections. */
export interface HttpServer extends AsyncDisposable {
  readonly host: string;
  /** The port that was really taken. */
  readonly port: number;
}

/** Requests here are small and trusted little: the bounds keep a slow or greedy client from holding anything. */
const bounds = { maxHeaderSize: 16_384, headersTimeout: 5000, requestTimeout: 10_000, keepAliveTimeout: 5000 };
const mostConnections = 512;

/** Listens, or throws a fault that names the port and what to do about it. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { router, onError } = options;
  const server = createServer(bounds, (request, response) => {
    void router.handle(request, response).catch((thrown: unknown) => {
      onError(thrown);
      if (response.headersSent) response.destroy();
      else sendText(response, 500, "internal error\n");
    });
  });
  server.maxConnections = mostConnections;
  await listen(server, options);
  server.on("error", onError);
  const { port } = server.address() as AddressInfo;
  return { host: options.host, port, [Symbol.asyncDispose]: () => close(server) };
}

function listen(server: Server, { host, port }: HttpServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onFailure = (error: NodeJS.ErrnoException): void => reject(listenFault(host, port, error));
    server.once("error", onFailure);
    server.listen({ host, port }, () => {
      server.off("error", onFailure);
      resolve();
    });
  });
}

function listenFault(host: string, port: number, error: NodeJS.ErrnoException): Fault {
  const make = (reason: string, message: string): Fault =>
    new Fault({ code: "FAILED_PRECONDITION", reason, message, cause: error });
  switch (error.code) {
    case "EADDRINUSE":
      return make(
        "PORT_IN_USE",
        `port ${port} on ${host} is in use: stop what listens there, or choose another port with --http-port (0 takes any free one)`,
      );
    case "EACCES":
      return make(
        "PORT_FORBIDDEN",
        `port ${port} on ${host} needs more rights: choose one above 1023 with --http-port`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return make("HOST_UNKNOWN", `${host} is not an address of this machine: choose one with --http-host`);
    default:
      return make("LISTEN_FAILED", `cannot listen on ${host} port ${port}: ${error.message}`);
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
