import type {
  SessionHello,
  SessionServiceSessionRequest,
  SessionServiceSessionResponse,
  SessionWelcome,
} from "@tenure/contracts";
import { durationToMs } from "@tenure/contracts";
import { atEndOfTurn, Backoff, type Clock, type Random, type Timer } from "@tenure/kernel";
import { TenureError } from "../errors.ts";
import type { Transport, TransportStream } from "../transport/transport.ts";
import type { SessionState } from "./session.ts";

/** What a message may hold, as the server said in its welcome. */
export interface LinkRoom {
  readonly maxBytes: number;
  readonly maxOpenCalls: number;
}

/** A message without what the link itself writes. */
export type MessageParts = Omit<SessionServiceSessionRequest, "hello" | "sendNumber">;

/** The session that the link serves. */
export interface LinkListener {
  hello(): SessionHello;
  /** Whether it has something to send. */
  hasWork(room: LinkRoom): boolean;
  /** The next message. Its number is higher than all before and its instant is noted when this is called. */
  compose(sendNumber: number, room: LinkRoom): MessageParts;
  onMessage(message: SessionServiceSessionResponse): void;
  /** The stream is up; what is open may be sent again. */
  onConnected(welcome: SessionWelcome): void;
  /** The stream is gone; another is being opened. */
  onBroken(why: TenureError): void;
  onStateChange(state: SessionState, why?: TenureError): void;
}

/** How a link behaves. */
export interface LinkOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  /** R: the longest time between two of our messages. */
  readonly beatIntervalMs: number;
  /** T: how long the welcome may take, and the allowance on top of the server's own heartbeats. */
  readonly requestTimeoutMs: number;
  /** Notes the instant of a number, just before its message is put together and sent, and says it. */
  noteSend(sendNumber: number): number;
}

/** A term of 11 s must survive several tries, so a try is never more than a second away. */
const reopenBackoff = { firstMs: 50, limitMs: 1_000 };
/** A stream that lived this long was a good one: the next failure starts again with the first pause. */
const goodStreamMs = 1_000;
const defaultHeartbeatMs = 5_000;
/** Room of a server that does not say: what every gRPC server takes, and few calls. */
const defaultMaxMessageBytes = 1_048_576;
const defaultMaxOpenCalls = 100;
/** The longest time that a server's goodbye can put off the next stream. */
const longestGoodbyeMs = 5_000;

/**
 * Keeps one stream to the service open: greets, beats, notices silence, and opens the next one when it breaks. What is
 * asked for within one turn of the event loop travels in one message.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #listener: LinkListener;
  readonly #backoff: Backoff;
  #stream: TransportStream | undefined;
  /** Counts streams, so that what an earlier one still tells is not taken for the present one's. */
  #generation = 0;
  #room: LinkRoom | undefined;
  #isWritable = true;
  #isFlushDue = false;
  #isClosed = false;
  #sendNumber = 0;
  #sentAtMs = 0;
  #heardAtMs = 0;
  /** The oldest message that the server has not said to have received, and when it was sent; 0 if there is none. */
  #unreceivedNumber = 0;
  #unreceivedAtMs = 0;
  #connectedAtMs = 0;
  #silenceMs = 0;
  #beat: Timer | undefined;
  #watch: Timer | undefined;
  #reopen: Timer | undefined;
  #state: SessionState = "reconnecting";

  constructor(options: LinkOptions, listener: LinkListener) {
    this.#options = options;
    this.#listener = listener;
    this.#backoff = new Backoff(reopenBackoff, options.random);
  }

  get state(): SessionState {
    return this.#state;
  }

  open(): void {
    if (this.#isClosed) return;
    const { transport, clock, requestTimeoutMs } = this.#options;
    this.#generation += 1;
    const generation = this.#generation;
    const isPresent = () => this.#generation === generation && !this.#isClosed;
    this.#isWritable = true;
    this.#room = undefined;
    this.#unreceivedNumber = 0;
    this.#stream = transport.open({
      onMessage: (message) => isPresent() && this.#onMessage(message),
      onWritable: () => isPresent() && this.#onWritable(),
      onClosed: (why) => isPresent() && this.#onBroken(why),
    });
    this.#watch = clock.schedule(requestTimeoutMs, () => {
      this.#onBroken(unreachable(`${transport.address} did not greet within ${requestTimeoutMs} ms`));
    });
    this.#send(emptyParts, this.#number(), this.#listener.hello());
  }

  /** Sends what there is at the end of this turn; nothing while there is no stream. */
  flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    atEndOfTurn(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  /** Says that the client is about to close, and closes. */
  close(why: TenureError): void {
    if (this.#isClosed) return;
    this.#flush();
    if (this.#room !== undefined) this.#send({ ...emptyParts, closing: true });
    this.#isClosed = true;
    this.#cancelTimers();
    this.#reopen?.cancel();
    this.#stream?.close();
    this.#stream = undefined;
    this.#room = undefined;
    this.#setState("closed", why);
  }

  #onMessage(message: SessionServiceSessionResponse): void {
    this.#heardAtMs = this.#options.clock.now();
    this.#noteReceived(Number(message.receivedNumber));
    if (this.#room === undefined) {
      if (message.welcome === undefined) {
        this.#onBroken(unreachable(`${this.#options.transport.address} did not greet first`));
        return;
      }
      this.#onWelcome(message.welcome);
    }
    this.#listener.onMessage(message);
    if (message.goodbye !== undefined) this.#onGoodbye(message.goodbye);
  }

  #onWelcome(welcome: SessionWelcome): void {
    const heartbeatMs = welcome.heartbeatInterval ? durationToMs(welcome.heartbeatInterval) : defaultHeartbeatMs;
    this.#silenceMs = heartbeatMs + this.#options.requestTimeoutMs;
    this.#room = {
      maxBytes: welcome.maxMessageBytes || defaultMaxMessageBytes,
      maxOpenCalls: welcome.maxOpenCalls || defaultMaxOpenCalls,
    };
    this.#connectedAtMs = this.#heardAtMs;
    this.#cancelTimers();
    this.#scheduleBeat();
    this.#scheduleWatch(this.#silenceMs);
    this.#setState("connected");
    this.#listener.onConnected(welcome);
    this.flushSoon();
  }

  /** The server leaves: the next stream is opened when it asks for that, and until then renewals go on on this one. */
  #onGoodbye({ reason, reconnectAfter }: NonNullable<SessionServiceSessionResponse["goodbye"]>): void {
    const afterMs = Math.min(reconnectAfter ? durationToMs(reconnectAfter) : 0, longestGoodbyeMs);
    const generation = this.#generation;
    // New calls would be refused here; they wait for the next stream.
    if (this.#room !== undefined) this.#room = { ...this.#room, maxOpenCalls: 0 };
    this.#reopen?.cancel();
    this.#reopen = this.#options.clock.schedule(afterMs, () => {
      if (this.#generation !== generation || this.#isClosed) return;
      this.#backoff.reset();
      this.#break(unreachable(`${this.#options.transport.address} said goodbye: ${reason}`));
      this.open();
    });
  }

  #onWritable(): void {
    this.#isWritable = true;
    this.flushSoon();
  }

  #onBroken(why: TenureError): void {
    if (this.#options.clock.now() - this.#connectedAtMs >= goodStreamMs && this.#room !== undefined) {
      this.#backoff.reset();
    }
    this.#break(why);
    if (this.#isClosed) return;
    this.#reopen = this.#options.clock.schedule(this.#backoff.next(), () => this.open());
  }

  #break(why: TenureError): void {
    this.#generation += 1;
    this.#cancelTimers();
    this.#reopen?.cancel();
    this.#stream?.close();
    this.#stream = undefined;
    this.#room = undefined;
    this.#setState("reconnecting", why);
    this.#listener.onBroken(why);
  }

  #flush(): void {
    // Bounded: each message takes at least one call, or all cancels, credits and renewals that are due.
    while (this.#room !== undefined && this.#isWritable && this.#listener.hasWork(this.#room)) {
      const number = this.#number();
      this.#send(this.#listener.compose(number, this.#room), number);
    }
  }

  #number(): number {
    this.#sendNumber += 1;
    this.#sentAtMs = this.#options.noteSend(this.#sendNumber);
    return this.#sendNumber;
  }

  #send(parts: MessageParts, number = this.#number(), hello?: SessionHello): void {
    if (this.#unreceivedNumber === 0) {
      this.#unreceivedNumber = number;
      this.#unreceivedAtMs = this.#sentAtMs;
    }
    const { answers, calls, cancels, closing, credits, renewals } = parts;
    const sendNumber = BigInt(number);
    const message = { hello, calls, cancels, credits, renewals, answers, closing, sendNumber };
    this.#isWritable = this.#stream?.send(message) ?? false;
  }

  /** An empty message is a beat: it keeps open waits alive and shows that the client is there. */
  #scheduleBeat(): void {
    const { beatIntervalMs, clock } = this.#options;
    const dueMs = Math.max(0, this.#sentAtMs + beatIntervalMs - clock.now());
    this.#beat = clock.schedule(dueMs, () => {
      if (clock.now() - this.#sentAtMs >= beatIntervalMs && this.#isWritable) this.#send(emptyParts);
      this.#scheduleBeat();
    });
  }

  #noteReceived(received: number): void {
    if (received < this.#unreceivedNumber) return;
    this.#unreceivedNumber = received >= this.#sendNumber ? 0 : received + 1;
    this.#unreceivedAtMs = this.#heardAtMs;
  }

  /** Breaks a stream that has died in either direction: one that says nothing, or whose server receives nothing. */
  #scheduleWatch(inMs: number): void {
    const { clock, requestTimeoutMs, transport } = this.#options;
    const dueAtMs = clock.now() + inMs;
    this.#watch = clock.schedule(inMs, () => {
      const nowMs = clock.now();
      const oldestMs = this.#unreceivedNumber === 0 ? this.#heardAtMs : Math.min(this.#heardAtMs, this.#unreceivedAtMs);
      const leftMs = oldestMs + this.#silenceMs - nowMs;
      // A thread that was busy itself has messages waiting that it has not read.
      const wasAsleep = nowMs - dueAtMs > requestTimeoutMs / 2;
      if (leftMs > 0) this.#scheduleWatch(leftMs);
      else if (wasAsleep) this.#scheduleWatch(requestTimeoutMs);
      else this.#onBroken(unreachable(`${transport.address} was silent for ${this.#silenceMs} ms`));
    });
  }

  #cancelTimers(): void {
    this.#beat?.cancel();
    this.#watch?.cancel();
  }

  #setState(state: SessionState, why?: TenureError): void {
    if (this.#state === state && state !== "reconnecting") return;
    this.#state = state;
    this.#listener.onStateChange(state, why);
  }
}

const emptyParts: MessageParts = Object.freeze({
  calls: [],
  cancels: [],
  renewals: new Uint8Array(0),
  credits: [],
  answers: [],
  closing: false,
});

/** The session broke, or could not be opened. */
function unreachable(message: string): TenureError {
  return new TenureError({ code: "UNAVAILABLE", reason: "SESSION_BROKEN", message });
}
