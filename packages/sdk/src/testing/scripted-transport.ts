import {
  durationFromMs,
  type SessionReply,
  type SessionServiceSessionRequest,
  type SessionServiceSessionResponse,
} from "@tenure/contracts";
import { TenureError } from "../errors.ts";
import type { Transport, TransportListener, TransportStream } from "../transport/transport.ts";

/** One stream that the client opened; the test is the server. */
export class ScriptedStream implements TransportStream {
  readonly sent: SessionServiceSessionRequest[] = [];
  readonly #listener: TransportListener;
  isClosed = false;
  /** What `send` answers. */
  isWritable = true;

  constructor(listener: TransportListener) {
    this.#listener = listener;
  }

  send(message: SessionServiceSessionRequest): boolean {
    this.sent.push(message);
    return this.isWritable;
  }

  close(): void {
    this.isClosed = true;
  }

  /** Everything that was called on this stream, in order. */
  get calls() {
    return this.sent.flatMap(({ calls }) => calls);
  }

  welcome(room: Partial<Record<"maxMessageBytes" | "maxOpenCalls" | "heartbeatMs", number>> = {}): void {
    this.say({
      welcome: {
        sessionId: "s",
        instance: "scripted",
        version: "0",
        principal: "tester",
        maxMessageBytes: room.maxMessageBytes ?? 1_000_000,
        maxOpenCalls: room.maxOpenCalls ?? 1_000,
        heartbeatInterval: durationFromMs(room.heartbeatMs ?? 60_000),
        now: undefined,
      },
    });
  }

  say(message: Partial<SessionServiceSessionResponse>): void {
    if (!this.isClosed) this.#listener.onMessage({ ...silence, ...message });
  }

  reply(number: bigint, response: Uint8Array, end = true): void {
    this.say({ replies: [{ number, outcome: { $case: "response", value: response }, end, also: [] }] });
  }

  fail(number: bigint, code: number, reasonName: string, applied = 0): void {
    const detail = { reason: 0, reasonName, violations: [], applied, attributes: {} };
    const failure = {
      code,
      message: `scripted ${reasonName}`,
      detail: { ...noDetail, ...detail } as never,
    };
    const reply: SessionReply = { number, outcome: { $case: "failure", value: failure }, end: true, also: [] };
    this.say({ replies: [reply] });
  }

  writable(): void {
    this.isWritable = true;
    this.#listener.onWritable();
  }

  break(code: "UNAVAILABLE" | "UNAUTHENTICATED" = "UNAVAILABLE"): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#listener.onClosed(new TenureError({ code, reason: "SESSION_BROKEN", message: "scripted break" }));
  }
}

/** A transport in which only happens what the test says. */
export class ScriptedTransport implements Transport {
  readonly address = "scripted";
  readonly streams: ScriptedStream[] = [];
  isDisposed = false;

  open(listener: TransportListener): TransportStream {
    const stream = new ScriptedStream(listener);
    this.streams.push(stream);
    return stream;
  }

  /** The stream that was opened last. */
  get last(): ScriptedStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error("no stream was opened");
    return stream;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isDisposed = true;
  }
}

const silence: SessionServiceSessionResponse = {
  welcome: undefined,
  replies: [],
  renewalAcks: new Uint8Array(0),
  refusals: [],
  pushes: [],
  receivedNumber: 0n,
  goodbye: undefined,
};

const noDetail = {
  lease: undefined,
  holder: undefined,
  token: undefined,
  revision: undefined,
  successor: undefined,
  retryAfter: undefined,
  limit: undefined,
};
