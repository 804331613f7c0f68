import { type ClientHttp2Session, type ClientHttp2Stream, constants } from "node:http2";
import { encodeMessage, SessionServiceSessionRequest, SessionServiceSessionResponse } from "@tenure/contracts";
import type { Clock, Timer } from "@tenure/kernel";
import type { TransportListener, TransportStream } from "../transport/transport.ts";
import { frameMessage, MessageReader, Unreadable } from "./message-frames.ts";
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
  readonly connection: ClientHttp2Session;
  readonly stream: ClientHttp2Stream;
  readonly endpoint: string;
  readonly clock: Clock;
  readonly onGone: () => void;
}

/**
 * One session's stream and the connection under it: gRPC's frames on HTTP/2, without a gRPC library between, which
 * would cost several times what the session itself does for a message.
 */
export class GrpcStream implements TransportStream {
  readonly #parts: GrpcStreamParts;
  readonly #listener: TransportListener;
  readonly #whenGone: (() => void)[] = [];
  #status: GrpcStatus | undefined;
  #failure: Error | undefined;
  #timer: Timer | undefined;
  #isClosed = false;
  #isGone = false;

  constructor(parts: GrpcStreamParts, listener: TransportListener) {
    this.#parts = parts;
    this.#listener = listener;
    const { connection, stream } = parts;
    const reader = new MessageReader(maxMessageBytes, (message) => this.#onMessage(message));
    stream.on("response", (headers) => {
      this.#status = refusalOf(headers) ?? statusOf(headers);
    });
    stream.on("trailers", (trailers) => {
      this.#status ??= statusOf(trailers);
    });
    stream.on("data", (chunk: Buffer) => this.#read(() => reader.take(chunk)));
    // A server that has ended reads no more either.
    stream.on("end", () => stream.close());
    stream.on("drain", () => this.#isClosed || listener.onWritable());
    // The end follows, and tells why; what became of the connection says more than what that did to the stream.
    stream.on("error", (error) => this.#fail(error));
    connection.on("error", (error) => {
      this.#failure = error;
    });
    stream.on("close", () => connection.destroy());
    connection.on("close", () => this.#over());
    this.#timer = parts.clock.schedule(pingIntervalMs, () => this.#ping());
  }

  send(message: SessionServiceSessionRequest): boolean {
    const { stream } = this.#parts;
    if (this.#isClosed || stream.closed || stream.destroyed) return false;
    return stream.write(frameMessage(encodeMessage(SessionServiceSessionRequest, message)));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isGone) return;
    const { clock, connection, stream } = this.#parts;
    if (stream.pending) {
      // Never connected: there is nobody to take leave of.
      connection.destroy();
      return;
    }
    stream.end();
    const grace = clock.schedule(endGraceMs, () => connection.destroy());
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

  #onMessage(bytes: Uint8Array): void {
    if (!this.#isClosed) this.#listener.onMessage(decodeResponse(bytes));
  }

  /** What cannot be read ends the stream; a mistake of the listener is not caught. */
  #read(take: () => void): void {
    try {
      take();
    } catch (thrown) {
      if (!(thrown instanceof Unreadable)) throw thrown;
      this.#fail(thrown);
      this.#parts.stream.close(constants.NGHTTP2_CANCEL);
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error;
  }

  #ping(): void {
    const { clock, connection } = this.#parts;
    if (connection.destroyed) return;
    this.#timer = clock.schedule(pingTimeoutMs, () => {
      this.#fail(new Error(`it did not answer a ping within ${pingTimeoutMs} ms`));
      connection.destroy();
    });
    connection.ping(() => {
      this.#timer?.cancel();
      if (!this.#isGone) this.#timer = clock.schedule(pingIntervalMs, () => this.#ping());
    });
  }

  #over(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#timer?.cancel();
    const { endpoint, onGone } = this.#parts;
    onGone();
    for (const act of this.#whenGone) act();
    if (this.#isClosed) return;
    this.#isClosed = true;
    const status = this.#status;
    if (status !== undefined) this.#listener.onClosed(errorFromStatus(status, endpoint));
    else this.#listener.onClosed(broken(endpoint, this.#failure?.message ?? "the connection was closed"));
  }
}

function decodeResponse(bytes: Uint8Array): SessionServiceSessionResponse {
  try {
    return SessionServiceSessionResponse.decode(bytes);
  } catch (cause) {
    throw new Unreadable("it sent a message that cannot be decoded", { cause });
  }
}
