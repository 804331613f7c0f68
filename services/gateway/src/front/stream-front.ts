import type { handleBidiStreamingCall, ServerDuplexStream } from "@grpc/grpc-js";
import type { MessageCodec } from "@tenure/bus";
import { Fault, type Timer } from "@tenure/kernel";
import { describeCall } from "./call-context.ts";
import { decodeRequest } from "./decode-request.ts";
import { assertSize, type FrontContext, faultFor, stopping } from "./front-context.ts";
import { asBuffer } from "./front-service.ts";
import type { Bytes } from "./grpc-definition.ts";
import { grpcStatus } from "./grpc-status.ts";

/** What one client's stream is served by: messages in, answers out when they come. */
export interface Conversation<Request> {
  /** Takes a message. What it throws ends the stream. */
  receive(message: Request): void;
  /** Whether a client that has closed its side has nothing more to wait for. */
  readonly isIdle: boolean;
  /** The stream is over. */
  close?(): void;
}

/** Begins to serve a stream; `fail` ends it with a fault. */
type Open<Request, Response> = (
  principal: string,
  send: (answer: Response) => void,
  fail: (thrown: unknown) => void,
) => Conversation<Request>;

/** A method whose client streams and is answered on the stream. */
interface StreamMethod<Request, Response> {
  /** As `<Service>.<Method>`. */
  readonly name: string;
  readonly requestType: Pick<MessageCodec<Request>, "decode">;
  readonly responseType: Pick<MessageCodec<Response>, "encode">;
}

/** After this long without an answer an empty one is sent, so that both ends know that the stream lives. */
const silenceMs = 5_000;

/** Answers that may wait for a client that reads slowly; beyond it the stream is cut off. */
const mostQueuedBytes = 4 * 1024 * 1024;

/** A client that has closed its side gets the answers that come within this time: longer than an owner may take. */
const lastAnswersMs = 10_000;

/** Nothing to say: the encoding of every message without a field. */
const empty = Buffer.alloc(0);

/**
 * Serves a method whose client streams: within the limits of its connection, until one side ends it. Each message is
 * judged like a call, and one that its principal may not send ends the stream.
 */
export function streamFront<Request, Response>(
  { name, requestType, responseType }: StreamMethod<Request, Response>,
  context: FrontContext,
  open: Open<Request, Response>,
): handleBidiStreamingCall<Bytes, Bytes> {
  const { admission, connections, maxRequestBytes } = context;
  return (call) => {
    const stream = new Stream(call, context);
    stream.guard(() => {
      stream.admit();
      const send = (answer: Response) => {
        stream.write(asBuffer(responseType.encode(answer).finish()));
        if (stream.isEnding && conversation.isIdle) stream.finish();
      };
      const { principal } = describeCall(call, context);
      const conversation = open(principal, send, (thrown) => stream.fail(thrown));
      stream.onClose = () => conversation.close?.();
      call.on("data", (bytes: Bytes) =>
        stream.guard(() => {
          assertSize(bytes, "max-request-bytes", maxRequestBytes);
          connections.count(call.getPeer());
          admission?.admit(principal, name, bytes);
          conversation.receive(decodeRequest(requestType, bytes));
        }),
      );
      call.on("end", () => stream.endSoon(conversation.isIdle));
    });
  };
}

/** One open stream: its place among those of its connection, its silence, and its one end. */
class Stream {
  readonly #call: ServerDuplexStream<Bytes, Bytes>;
  readonly #context: FrontContext;
  readonly #onStop = () => this.fail(stopping());
  /** Told once, when the stream is over. */
  onClose = () => {};
  #release = () => {};
  #silence: Timer | undefined;
  #lastAnswers: Timer | undefined;
  #isOver = false;

  constructor(call: ServerDuplexStream<Bytes, Bytes>, context: FrontContext) {
    this.#call = call;
    this.#context = context;
  }

  /** Whether the client has closed its side and answers are still to come. */
  get isEnding(): boolean {
    return this.#lastAnswers !== undefined;
  }

  /** Takes its place; throws when its connection has too many. */
  admit(): void {
    const { connections, stop } = this.#context;
    this.#release = connections.admit(this.#call.getPeer());
    stop.addEventListener("abort", this.#onStop, { once: true });
    this.#call.on("cancelled", () => this.#close());
    this.#armSilence();
  }

  /** Does something; what it throws ends the stream. */
  guard(act: () => void): void {
    try {
      act();
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  write(bytes: Bytes): void {
    if (this.#isOver) return;
    this.#armSilence();
    this.#call.write(bytes);
    if (this.#call.writableLength > mostQueuedBytes) this.fail(tooSlow());
  }

  /** The client has closed its side: ends now, or when the last answers are sent. */
  endSoon(isIdle: boolean): void {
    if (this.#isOver) return;
    if (isIdle) this.finish();
    else this.#lastAnswers = this.#context.clock.schedule(lastAnswersMs, () => this.finish());
  }

  finish(): void {
    if (this.#isOver) return;
    this.#close();
    this.#call.end();
  }

  /** Ends the stream with a fault. */
  fail(thrown: unknown): void {
    if (this.#isOver) return;
    this.#close();
    this.#call.emit("error", grpcStatus(faultFor(thrown, this.#context)));
  }

  #armSilence(): void {
    this.#silence?.cancel();
    this.#silence = this.#context.clock.schedule(silenceMs, () => this.write(empty));
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#silence?.cancel();
    this.#lastAnswers?.cancel();
    this.#context.stop.removeEventListener("abort", this.#onStop);
    this.#release();
    this.onClose();
  }
}

function tooSlow(): Fault {
  return new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: "LIMIT_EXCEEDED",
    message: `the client reads too slowly: over ${mostQueuedBytes} bytes of answers wait for it`,
    details: { limit: { name: "queued-bytes-per-stream", value: BigInt(mostQueuedBytes) } },
  });
}
