import type {
  SessionCredit,
  SessionHello,
  SessionPush,
  SessionServiceSessionResponse,
  SessionWelcome,
} from "@tenure/contracts";
import { durationFromMs } from "@tenure/contracts";
import { type Clock, Fault, type Random } from "@tenure/kernel";
import { TenureError } from "../errors.ts";
import { InlineKeeper } from "../renewal/inline-keeper.ts";
import type { Transport } from "../transport/transport.ts";
import { CallTable, type WireCall } from "./call-table.ts";
import { Candidates } from "./candidates.ts";
import { Link, type LinkListener, type LinkRoom, type MessageParts } from "./link.ts";
import { SendInstants } from "./send-instants.ts";
import type { SessionState } from "./session.ts";

/** What an exchange is made of. */
export interface ExchangeOptions {
  readonly clientId: string;
  readonly transport: Transport;
  /** The holder's clock. */
  readonly clock: Clock;
  readonly random: Random;
  /** The secret of this client's claims. */
  readonly renewKey: Uint8Array;
  /** Name and version of the client, for people. */
  readonly userAgent: string;
  /** R: the longest time between two messages of the client, and so between two beats of a wait. */
  readonly beatIntervalMs: number;
  /** T: how long a greeting may take, and the allowance for an answer beyond the time that it was given. */
  readonly requestTimeoutMs: number;
  /** The highest revision that the client has seen; 0 when absent. */
  readonly minRevision?: (() => bigint) | undefined;
  /** Why renewals must not be sent now, beyond the state of the link; undefined if they may. */
  readonly renewalObstacle?: (() => TenureError | undefined) | undefined;
}

type StateListener = (state: SessionState, why?: TenureError) => void;

/**
 * The messages of a session: puts calls, cancels, credits, answers and renewals together into numbered messages, and
 * takes apart what comes back. It knows no method and retries nothing.
 */
export class Exchange implements LinkListener {
  readonly calls = new CallTable();
  readonly candidates = new Candidates();
  readonly keeper: InlineKeeper;
  readonly #options: ExchangeOptions;
  readonly #link: Link;
  readonly #instants = new SendInstants();
  readonly #credits = new Map<WireCall, number>();
  readonly #stateListeners = new Set<StateListener>();
  readonly #pushListeners = new Set<(push: SessionPush) => void>();
  #principal = "";
  #whyNotConnected: TenureError;

  constructor(options: ExchangeOptions) {
    const { beatIntervalMs, clock, random, requestTimeoutMs, transport } = options;
    this.#options = options;
    this.#whyNotConnected = notConnected(transport.address);
    const noteSend = (sendNumber: number) => {
      const nowMs = clock.now();
      this.#instants.note(sendNumber, nowMs);
      return nowMs;
    };
    this.#link = new Link({ transport, clock, random, beatIntervalMs, requestTimeoutMs, noteSend }, this);
    this.keeper = new InlineKeeper({
      clock,
      random,
      obstacle: () => this.#obstacle(),
      flushSoon: () => this.#link.flushSoon(),
      instantOf: (sendNumber) => this.instantOf(sendNumber),
    });
    transport.useTerms?.((partition, holdId) => this.keeper.termOf(partition, holdId));
  }

  get state(): SessionState {
    return this.#link.state;
  }

  /** Whom the service takes the caller for, as it said last. */
  get principal(): string {
    return this.#principal;
  }

  /** Why there is no stream; meaningful only while there is none. */
  get whyNotConnected(): TenureError {
    return this.#whyNotConnected;
  }

  start(): void {
    this.#link.open();
  }

  /** Sends what is left, ends the stream and everything that is open. */
  close(why: TenureError): void {
    this.#link.close(why);
    this.calls.failAll(why);
  }

  /** When a message was about to be sent; `-Infinity` if that is no longer known. */
  instantOf(sendNumber: number): number {
    return this.#instants.at(sendNumber);
  }

  onState(listener: StateListener): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  onPush(listener: (push: SessionPush) => void): () => void {
    this.#pushListeners.add(listener);
    return () => void this.#pushListeners.delete(listener);
  }

  /** Sends a call with this turn's message, or as soon as there is a stream. */
  add(call: WireCall): void {
    if (this.state === "closed") {
      call.onFailure(closed(call.method));
      return;
    }
    this.calls.add(call);
    this.#link.flushSoon();
  }

  drop(call: WireCall): void {
    this.#credits.delete(call);
    this.calls.drop(call);
    this.#link.flushSoon();
  }

  /** Tells the server that a stream has room for more. */
  grant(call: WireCall, responses: number): void {
    this.#credits.set(call, (this.#credits.get(call) ?? 0) + responses);
    this.#link.flushSoon();
  }

  hello(): SessionHello {
    const { beatIntervalMs, clientId, renewKey, requestTimeoutMs, userAgent } = this.#options;
    return {
      clientId,
      renewKey,
      userAgent,
      beatInterval: durationFromMs(beatIntervalMs),
      requestTimeout: durationFromMs(requestTimeoutMs),
      minRevision: this.#options.minRevision?.() ?? 0n,
      sharedReplies: true,
    };
  }

  hasWork({ maxOpenCalls }: LinkRoom): boolean {
    const { calls, candidates, keeper } = this;
    return keeper.isDue || this.#credits.size > 0 || candidates.hasAnswers || calls.hasWork(maxOpenCalls);
  }

  compose(sendNumber: number, room: LinkRoom): MessageParts {
    const renewals = this.keeper.isDue ? this.keeper.take(sendNumber) : noRenewals;
    return {
      cancels: this.calls.takeCancels(),
      credits: this.#takeCredits(),
      answers: this.candidates.takeAnswers(),
      calls: this.calls.take(BigInt(sendNumber), this.#options.clock.now(), room, renewals.length),
      renewals,
      closing: false,
    };
  }

  onMessage(message: SessionServiceSessionResponse): void {
    if (message.renewalAcks.length > 0) this.#onAcks(message.renewalAcks);
    if (message.refusals.length > 0) this.keeper.onRefusals(message.refusals);
    for (const reply of message.replies) this.calls.onReply(reply);
    for (const push of message.pushes) {
      this.candidates.onPush(push);
      for (const listener of [...this.#pushListeners]) listener(push);
    }
    // Calls that are over make room for those that wait, and pings have their answers.
    this.#link.flushSoon();
  }

  onConnected(welcome: SessionWelcome): void {
    this.#principal = welcome.principal;
    this.keeper.renewAll();
  }

  onBroken(why: TenureError): void {
    this.#whyNotConnected = why;
    this.#credits.clear();
    this.candidates.forgetAnswers();
    this.calls.onBroken(broken(why));
  }

  onStateChange(state: SessionState, why?: TenureError): void {
    for (const listener of [...this.#stateListeners]) listener(state, why);
  }

  #onAcks(acks: Uint8Array): void {
    try {
      this.keeper.onAcks(acks);
    } catch (thrown) {
      // Acknowledgements that cannot be read prove nothing; their holds count as unanswered.
      if (!(thrown instanceof Fault)) throw thrown;
    }
  }

  #takeCredits(): SessionCredit[] {
    const credits: SessionCredit[] = [];
    if (this.#credits.size === 0) return credits;
    for (const [call, responses] of this.#credits) {
      if (call.number > 0) credits.push({ number: BigInt(call.number), responses });
    }
    this.#credits.clear();
    return credits;
  }

  #obstacle(): TenureError | undefined {
    return this.state === "connected" ? this.#options.renewalObstacle?.() : this.#whyNotConnected;
  }
}

const noRenewals = new Uint8Array(0);

/** The error of everything that a closed session is asked for. */
export function closed(what: string): TenureError {
  const message = `${what}: the session is closed`;
  return new TenureError({ code: "CANCELLED", reason: "SESSION_CLOSED", message, applied: "NO" });
}

function broken(cause: TenureError): TenureError {
  const message = `the session broke: ${cause.message}`;
  return new TenureError({ code: "UNAVAILABLE", reason: "SESSION_BROKEN", message, cause });
}

function notConnected(address: string): TenureError {
  const message = `${address} is not connected yet`;
  return new TenureError({ code: "UNAVAILABLE", reason: "UNREACHABLE", message });
}
