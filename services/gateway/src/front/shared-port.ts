import { createServer as createPlain, type Server, type Socket } from "node:net";
import { createServer as createSecure } from "node:tls";
import type { Clock } from "@tenure/kernel";
import { preface } from "@tenure/session/http2";
import { isOneSession } from "./first-bytes.ts";

/** Serves a connection of one session, beginning with the bytes after its preface. */
export type ServeSession = (socket: Socket, bytes: Buffer) => void;

/** How the port is opened, and who serves what comes in. */
export interface SharedPortOptions {
  readonly host: string;
  readonly port: number;
  /** PEM texts; absent serves without TLS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly clock: Clock;
  readonly serveSession: ServeSession;
  /** Serves any other connection; what was read of it is to be read again. */
  readonly serveOther: (socket: Socket) => void;
}

/** A port that listens. */
export interface SharedPort {
  readonly number: number;
  /** Takes no more connections; resolves when the last one is closed. */
  close(): Promise<void>;
  /** Cuts the connections that are left. */
  cut(): void;
}

/** A connection that does not say what it is within this time, in milliseconds, is closed. */
const firstBytesMs = 15_000;

/** A peer that has gone without a word is found out by the kernel, some 10 s after this much silence, in milliseconds. */
const keepAliveInitialDelay = 10_000;

/** Opens the one port of sessions and of everything else. */
export async function openPort(options: SharedPortOptions): Promise<SharedPort> {
  const { host, port, tls } = options;
  const sockets = new Set<Socket>();
  const take = (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    sortOut(socket, options);
  };
  const own = { noDelay: true, keepAlive: true, keepAliveInitialDelay };
  const server =
    tls === undefined ? createPlain(own, take) : createSecure({ ...own, ...tls, ALPNProtocols: ["h2"] }, take);
  await listen(server, host, port);
  const address = server.address();
  return {
    number: typeof address === "object" && address !== null ? address.port : port,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Reads of a connection what tells its kind, and hands it over. */
function sortOut(socket: Socket, { clock, serveOther, serveSession }: SharedPortOptions): void {
  const patience = clock.schedule(firstBytesMs, () => socket.destroy());
  let bytes: Buffer = Buffer.alloc(0);
  // A connection that breaks is closed, and whoever serves it hears of that.
  socket.on("error", () => {});
  socket.once("close", () => patience.cancel());
  socket.on("data", function sort(chunk: Buffer): void {
    bytes = Buffer.concat([bytes, chunk]);
    const isSession = isOneSession(bytes);
    if (isSession === undefined) return;
    patience.cancel();
    socket.off("data", sort);
    if (isSession) serveSession(socket, bytes.subarray(preface.length));
    else {
      socket.pause();
      socket.unshift(bytes);
      serveOther(socket);
    }
  });
}
