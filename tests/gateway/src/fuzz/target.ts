import { readdirSync, readFileSync } from "node:fs";
import { type ClientHttp2Session, connect } from "node:http2";
import { createConnection } from "node:net";
import type { Duplex } from "node:stream";

/** How long one input may be without an answer before this side gives it up. */
const patienceMs = 10_000;

/** A gateway's port, as somebody sees it who means no good. */
export class Target implements Disposable {
  readonly #host: string;
  readonly #port: number;
  #session: ClientHttp2Session | undefined;

  constructor(address: string) {
    const [host = "", port = ""] = address.split(":");
    this.#host = host;
    this.#port = Number(port);
  }

  /** Sends one request with a body of any kind and waits until its stream is over. Gives the gRPC status, if any. */
  async request(path: string, body: Buffer, headers: Record<string, string> = {}): Promise<string> {
    const session = this.#connected();
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    let status = "";
    const note = (fields: Record<string, unknown>) => {
      status = String(fields["grpc-status"] ?? status);
    };
    stream.on("response", note);
    stream.on("trailers", note);
    stream.on("error", () => {});
    stream.resume();
    stream.end(body);
    await ended(stream);
    return status;
  }

  /** Sends bytes on a connection of their own, closes it, and waits until the other side has closed as well. */
  async raw(bytes: Buffer): Promise<void> {
    const socket = createConnection(this.#port, this.#host);
    socket.on("error", () => {});
    socket.resume();
    socket.end(bytes);
    // The server may wait for more of what it was sent: this side has said all.
    socket.once("data", () => socket.destroySoon());
    await ended(socket);
  }

  [Symbol.dispose](): void {
    this.#session?.destroy();
  }

  #connected(): ClientHttp2Session {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(`http://${this.#host}:${this.#port}`);
      this.#session.on("error", () => {});
    }
    return this.#session;
  }
}

/** Resolves when a stream is over, or when it was given up for want of an end. */
function ended(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const patience = setTimeout(() => {
      stream.destroy();
      resolve();
    }, patienceMs);
    stream.once("close", () => {
      clearTimeout(patience);
      resolve();
    });
  });
}

/** What a process holds: resident memory in MiB and open files. */
export function holdings(pid: number): { readonly residentMiB: number; readonly files: number } {
  const [, kib = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { residentMiB: Number(kib) / 1024, files: readdirSync(`/proc/${pid}/fd`).length };
}
