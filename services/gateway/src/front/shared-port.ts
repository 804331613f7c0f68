import { createServer as createPlain, type Socket } from "node:net";
import { createServer as createSecure, type TLSSocket, type TlsOptions } from "node:tls";
import type { Clock } from "@tenure/kernel";
import { preface } from "@tenure/session/http2";
import type { TlsFiles } from "../config.ts";
import { isOneSession } from "./first-bytes.ts";
import { listenEverywhere, portOf } from "./listen-everywhere.ts";
import { readCertificateOnce } from "./peer-certificate.ts";

/** Serves a connection of one session, beginning with the bytes after its preface. */
export type ServeSession = (socket: Socket, bytes: Buffer) => void;

/** How the port is opened, and who serves what comes in. */
export interface SharedPortOptions {
  readonly host: string;
  readonly port: number;
  /** Absent serves without TLS. */
  readonly tls?: TlsFiles | undefined;
  readonly clock: Clock;
  readonly serveSession: ServeSession;
  /** Serves any other connection; what was read of it is to be read again. */
  readonly serveOther: (socket: Socket) => void;
}

/** A port that listens. */
export interface SharedPort {
  readonly number: number;
  /** Takes no more connections and cuts those that nobody serves yet; resolves when the last one is closed. */
  close(): Promise<void>;
  /** Cuts the connections that are left. */
  cut(): void;
}

/** A connection that does not say what it is within this time, in milliseconds, is closed. */
const firstBytesMs = 15_000;

/** A peer that has gone without a word is found out by the kernel, some 10 s after this much silence, in milliseconds. */
const keepAliveInitialDelay = 10_000;

const own = { noDelay: true, keepAlive: true, keepAliveInitialDelay };
const handshake = { ALPNProtocols: ["h2"], handshakeTimeout: firstBytesMs };

/** Opens the one port of sessions and of everything else. */
export async function openPort(options: SharedPortOptions): Promise<SharedPort> {
  const { host, port, tls } = options;
  const sockets = new Set<Socket>();
  /** Those that have not said what they are, by name: with TLS their socket is not the one that is read. */
  const unsorted = new Map<string, Socket>();
  const meet = (socket: Socket) => {
    const name = nameOf(socket);
    sockets.add(socket);
    unsorted.set(name, socket);
    socket.once("close", () => {
      sockets.delete(socket);
      if (unsorted.get(name) === socket) unsorted.delete(name);
    });
  };
  const take = (socket: Socket) => sortOut(socket, options, () => unsorted.delete(nameOf(socket)));
  const servers = await listenEverywhere(host, port, () =>
    tls === undefined
      ? createPlain(own).on("connection", meet).on("connection", take)
      : createSecure({ ...own, ...tls, ...handshake, ...clientsOf(tls) })
          .on("connection", meet)
          .on("secureConnection", (socket: TLSSocket) => {
            readCertificateOnce(socket);
            take(socket);
          }),
  );
  return {
    number: portOf(servers[0]) ?? port,
    async close() {
      const closed = servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve())));
      for (const socket of unsorted.values()) socket.destroy();
      await Promise.all(closed);
    },
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** With an authority for clients, whoever shows no certificate of it is refused before a byte of a call is read. */
function clientsOf({ ca }: TlsFiles): TlsOptions {
  return ca === undefined ? {} : { requestCert: true, rejectUnauthorized: true };
}

function nameOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}

/** Reads of a connection what tells its kind, and hands it over. */
function sortOut(socket: Socket, { clock, serveOther, serveSession }: SharedPortOptions, onSorted: () => void): void {
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
    onSorted();
    socket.off("data", sort);
    if (isSession) serveSession(socket, bytes.subarray(preface.length));
    else {
      socket.pause();
      socket.unshift(bytes);
      serveOther(socket);
    }
  });
}
