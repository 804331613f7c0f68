import type { handleBidiStreamingCall } from "@grpc/grpc-js";
import {
  encodeMessage,
  SessionServiceDefinition,
  SessionServiceSessionRequest,
  SessionServiceSessionResponse,
} from "@tenure/contracts";
import type { Fault } from "@tenure/kernel";
import type { OpenSession, SessionEngine } from "@tenure/session";
import { describeCall } from "../front/call-context.ts";
import { decodeRequest } from "../front/decode-request.ts";
import { assertSize, type FrontContext, faultFor } from "../front/front-context.ts";
import { asBuffer } from "../front/front-service.ts";
import type { Bytes } from "../front/grpc-definition.ts";
import { grpcStatus } from "../front/grpc-status.ts";

/** Where sessions are opened. */
export const sessionPath = `/${SessionServiceDefinition.fullName}/${SessionServiceDefinition.methods.session.name}`;

/** The way to one client. */
export interface SessionWay {
  readonly peer: string;
  readonly principal: string;
  /** Takes one message; `false` when no more should be sent until the way has drained. */
  write(bytes: Uint8Array): boolean;
  /** Ends the stream: with a fault, or cleanly. Told once. */
  end(fault?: Fault): void;
}

/** One client's session, over either kind of gRPC stream: each message is decoded once, and the calls in it stay bytes. */
export class SessionFront {
  readonly #context: FrontContext;
  readonly #way: SessionWay;
  readonly #release: () => void;
  readonly #session: OpenSession;
  #isOver = false;

  /** Throws when the connection has too many streams. */
  constructor(engine: SessionEngine, context: FrontContext, way: SessionWay) {
    this.#context = context;
    this.#way = way;
    this.#release = context.connections.admit(way.peer);
    this.#session = engine.open({
      principal: way.principal,
      send: (message) => way.write(encodeMessage(SessionServiceSessionResponse, message)),
      end: (fault) => this.#end(fault),
    });
  }

  receive(bytes: Uint8Array): void {
    try {
      assertSize(bytes, "max-session-message-bytes", this.#context.maxSessionMessageBytes);
      this.#session.receive(decodeRequest(SessionServiceSessionRequest, bytes));
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  onDrain(): void {
    this.#session.onDrain();
  }

  /** Ends the session and its stream, with what was thrown if anything was. */
  fail(thrown: unknown): void {
    this.#session.close();
    this.#end(faultFor(thrown, this.#context));
  }

  /** The client has ended its side. */
  finish(): void {
    this.#session.close();
    this.#end();
  }

  /** The stream is gone. */
  close(): void {
    this.#session.close();
    this.#isOver = true;
    this.#release();
  }

  #end(fault?: Fault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
    this.#way.end(fault);
  }
}

/** Serves the sessions of stock gRPC clients. */
export function sessionFront(engine: SessionEngine, context: FrontContext): handleBidiStreamingCall<Bytes, Bytes> {
  return (call) => {
    const end = (fault?: Fault) => (fault === undefined ? call.end() : void call.emit("error", grpcStatus(fault)));
    try {
      const { principal } = describeCall(call, context);
      const write = (bytes: Uint8Array) => call.write(asBuffer(bytes));
      const front = new SessionFront(engine, context, { peer: call.getPeer(), principal, write, end });
      call.on("data", (bytes: Bytes) => front.receive(bytes));
      call.on("drain", () => front.onDrain());
      call.on("end", () => front.finish());
      call.on("cancelled", () => front.close());
    } catch (thrown) {
      end(faultFor(thrown, context));
    }
  };
}
