import type { Socket } from "node:net";
import { encodeMessage, SessionServiceSessionRequest, SessionServiceSessionResponse } from "@tenure/contracts";
import type { Clock, Timer } from "@tenure/kernel";
import { type Headers, StreamConnection, type StreamListener, Unreadable } from "@tenure/session/http2";
import type { TransportListener, TransportStream } from "../transport/transport.ts";
import { refusalOf, statusOf } from "./response-status.ts";
import { broken, errorFromStatus, type GrpcStatus } from "./status-error.ts";

/** A dead connection is noticed within 15 s even if nothing is sent; the session's own beats notice earlier. */
const pingIntervalMs = 10_000;
const pingTimeoutMs = 5_000;
/** The server bounds what it sends; this only keeps a broken one from filling the memory. */
const maxMessageBytes = 64 * 1024 * 1024;
/** How long a closed stream may take to end by itself. */
const endGraceMs = 500;

/** What a stream is made of. */
export interface GrpcStreamParts {
  readonly socket: Socket;
  /** What is said first. */
  readonly opening: Buffer;
  readonly endpoint: string;
  readonly clock: Clock;
  readonly onGone: () => void;
}

/**
 * One session's stream and the connection under it: gRPC's frames on HTTP/2, without a gRPC library between, which
 * would cost several times what the session itself does for a message.
 */
export class GrpcStream implements TransportStream, StreamListener {
  readonly #parts: GrpcStreamParts;
  readonly #connection: StreamConnection;
  readonly #listener: TransportListener;
  readonly #whenGone: (() => void)[] = [];
  #status: GrpcStatus | undefined;
  #timer: Timer | undefined;
  #isClosed = false;
  #isGone = false;

  constructor(parts: GrpcStreamParts, listener: TransportListener) {
    this.#parts = parts;
    this.#listener = listener;
    this.#connection = new StreamConnection(parts.socket, parts.opening, maxMessageBytes, this);
    this.#timer = parts.clock.schedule(pingIntervalMs, () => this.#ping());
  }

  send(message: SessionServiceSessionRequest): boolean {
    if (this.#isClosed || this.#isGone) return false;
    return this.#connection.send(encodeMessage(SessionServiceSessionRequest, message));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isGone) return;
    const { clock, socket } = this.#parts;
    if (socket.connecting) {
      // Never connected: there is nobody to take leave of.
      socket.destroy();
      return;
    }
    this.#connection.end();
    const grace = clock.schedule(endGraceMs, () => socket.destroy());
    this.#whenGone.push(() => grace.cancel());
  }

  /** Resolves when the connection is closed. */
  gone(): Promise<void> {
    this.close();
    return new Promise<void>((resolve) => {
      if (this.#isGone) resolve();
      else this.#whenGone.push(resolve);
    });
  }

  onHeaders(headers: Headers): void {
    this.#status ??= refusalOf(headers) ?? statusOf(headers);
  }

  onMessage(bytes: Uint8Array): void {
    if (!this.#isClosed) this.#listener.onMessage(decodeResponse(bytes));
  }

  onUnreadable(error: Unreadable): void {
    this.#connection.fail(error);
    this.#connection.destroy();
  }

  /** A server that has ended reads no more either. */
  onEnd(): void {
    this.#connection.destroy();
  }

  onWritable(): void {
    if (!this.#isClosed) this.#listener.onWritable();
  }

  onClosed(failure: Error | undefined): void {
    this.#isGone = true;
    this.#timer?.cancel();
    const { endpoint, onGone } = this.#parts;
    onGone();
    for (const act of this.#whenGone) act();
    if (this.#isClosed) return;
    this.#isClosed = true;
    const status = this.#status;
    if (status !== undefined) this.#listener.onClosed(errorFromStatus(status, endpoint));
    else this.#listener.onClosed(broken(endpoint, failure?.message ?? "the connection was closed"));
  }

  #ping(): void {
    const { clock } = this.#parts;
    this.#timer = clock.schedule(pingTimeoutMs, () => {
      this.#connection.fail(new Error(`it did not answer a ping within ${pingTimeoutMs} ms`));
      this.#connection.destroy();
    });
    this.#connection.ping(() => {
      this.#timer?.cancel();
      if (!this.#isGone) this.#timer = clock.schedule(pingIntervalMs, () => this.#ping());
    });
  }
}

function decodeResponse(bytes: Uint8Array): SessionServiceSessionResponse {
  try {
    return SessionServiceSessionResponse.decode(bytes);
  } catch (cause) {
    throw new Unreadable("it sent a message that cannot be decoded", { cause });
  }
}
