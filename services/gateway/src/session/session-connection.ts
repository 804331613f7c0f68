import type { Socket } from "node:net";
import { encodeStatusDetails } from "@tenure/contracts";
import { Fault, faultCodes, type Timer } from "@tenure/kernel";
import { notServed, type SessionEngine } from "@tenure/session";
import {
  type Headers,
  StreamConnection,
  type StreamListener,
  serverOpening,
  type Unreadable,
} from "@tenure/session/http2";
import { type FrontContext, faultFor, maxMessageBytes } from "../front/front-context.ts";
import { certificateOf } from "../front/peer-certificate.ts";
import { SessionFront, sessionPath } from "./session-front.ts";

/** A client that connects has this long to open its stream, and one whose session has ended to close its connection. */
const patienceMs = 10_000;

const responseHeaders = { ":status": "200", "content-type": "application/grpc" };

/**
 * A connection of the SDK, which has one stream and that is a session: served without the gRPC library, which would cost
 * as much for a message as all the rest.
 */
export class SessionConnection implements StreamListener {
  readonly #engine: SessionEngine;
  readonly #context: FrontContext;
  readonly #connection: StreamConnection;
  readonly #socket: Socket;
  readonly #peer: string;
  #front: SessionFront | undefined;
  #patience: Timer;
  #hasAnswered = false;

  /** Serves until the connection is closed. */
  constructor(engine: SessionEngine, context: FrontContext, socket: Socket) {
    this.#engine = engine;
    this.#context = context;
    this.#socket = socket;
    this.#peer = `${socket.remoteAddress}:${socket.remotePort}`;
    this.#connection = new StreamConnection(socket, serverOpening, maxMessageBytes, this);
    this.#patience = context.clock.schedule(patienceMs, () => this.#connection.destroy());
  }

  /** Bytes of the client that were read before. */
  take(bytes: Buffer): void {
    this.#connection.take(bytes);
  }

  onHeaders(headers: Headers): void {
    // Headers that come later are trailers, which say nothing here.
    if (this.#hasAnswered || this.#front !== undefined) return;
    this.#patience.cancel();
    try {
      if (headers[":path"] !== sessionPath) throw notServed(String(headers[":path"]).slice(1));
      this.#front = new SessionFront(this.#engine, this.#context, {
        peer: this.#peer,
        principal: this.#context.identify(certificateOf(this.#socket)),
        write: (bytes) => this.#write(bytes),
        end: (fault) => this.#end(fault),
      });
    } catch (thrown) {
      this.#end(faultFor(thrown, this.#context));
    }
  }

  onMessage(message: Uint8Array): void {
    this.#front?.receive(message);
  }

  onUnreadable(error: Unreadable): void {
    const { message } = error;
    this.#front?.fail(new Fault({ code: "INVALID_ARGUMENT", reason: "MALFORMED_MESSAGE", message, cause: error }));
  }

  onEnd(): void {
    this.#front?.finish();
  }

  onWritable(): void {
    this.#front?.onDrain();
  }

  onClosed(): void {
    this.#patience.cancel();
    this.#front?.close();
  }

  #write(bytes: Uint8Array): boolean {
    if (!this.#hasAnswered) this.#connection.respond(responseHeaders);
    this.#hasAnswered = true;
    return this.#connection.send(bytes);
  }

  #end(fault?: Fault): void {
    const first = this.#hasAnswered ? {} : responseHeaders;
    this.#hasAnswered = true;
    this.#connection.end({ ...first, ...trailersOf(fault) });
    this.#patience = this.#context.clock.schedule(patienceMs, () => this.#connection.destroy());
  }
}

function trailersOf(fault: Fault | undefined): Headers {
  if (fault === undefined) return { "grpc-status": "0" };
  return {
    "grpc-status": String(faultCodes[fault.code]),
    "grpc-message": encodeURI(fault.message),
    "grpc-status-details-bin": Buffer.from(encodeStatusDetails(fault)).toString("base64").replace(/=+$/, ""),
  };
}
