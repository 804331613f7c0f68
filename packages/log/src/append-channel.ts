import { headers, type MsgHdrs } from "@nats-io/nats-core";
import type { Bus } from "@tenure/bus";
import { type Clock, type Dated, Deadlines, NumberedItems, systemClock } from "@tenure/kernel";
import { privateInbox } from "./inbox.ts";
import { type AppendRefusal, type JetStreamErrorReply, lastSequenceOf, refusalOf } from "./js-errors.ts";

/** What became of one append. */
export type AppendOutcome =
  | { readonly kind: "acked"; readonly sequence: bigint }
  | {
      readonly kind: "refused";
      readonly refusal: AppendRefusal;
      /** The server's words, or ours when it did not answer. */
      readonly description: string;
      /** What a `Conflict` says is the subject's last sequence; a hint. */
      readonly lastSequence?: bigint;
    };

/** One append. */
export interface AppendRequest {
  readonly subject: string;
  readonly payload: Uint8Array;
  /** The condition: the subject's last sequence must be this (0: the subject must be empty). */
  readonly expectedLastSubjectSequence: bigint;
  /** After this the outcome is `Ambiguous`. */
  readonly timeoutMs: number;
}

interface Pending extends Dated {
  readonly resolve: (outcome: AppendOutcome) => void;
}

/** The header of an append's condition. JetStream keeps it with the message, so a reader can check the chain. */
export const expectedSequenceHeader = "Nats-Expected-Last-Subject-Sequence";

/**
 * Appends over one inbox subscription with its own correlation: a raw publish with JetStream's headers, which costs a
 * fraction of the client's `publish` and never retries behind the writer's back. Every append resolves exactly once:
 * acked, or refused with a meaning; a lost connection makes everything in flight `Ambiguous` at once. Nothing is
 * published while disconnected, because the client would sometimes send it late.
 */
export class AppendChannel implements Disposable {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #inbox: string;
  readonly #pending = new NumberedItems<Pending>();
  readonly #deadlines: Deadlines<Pending>;
  readonly #unsubscribe: () => void;
  readonly #unfollow: () => void;
  #sent = 0;
  #closed = false;

  constructor(bus: Bus, clock: Clock = systemClock) {
    this.#bus = bus;
    this.#clock = clock;
    this.#deadlines = new Deadlines(clock);
    this.#inbox = privateInbox(bus);
    const subscription = bus.nats.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error !== null) return;
        const number = Number(message.subject.slice(this.#inbox.length + 1));
        this.#settle(number, outcomeOf(message.headers?.code ?? 0, message.data));
      },
    });
    this.#unsubscribe = () => subscription.unsubscribe();
    this.#unfollow = bus.onStatus((status) => {
      if (status !== "connected") this.#settleAll("the connection to NATS was lost before the answer came");
    });
  }

  /** Appends do not queue here: the caller bounds how many it has in flight. */
  append(request: AppendRequest): Promise<AppendOutcome> {
    if (this.#closed || !this.#bus.connected) return Promise.resolve(refused("Unavailable", "not connected to NATS"));
    this.#sent += 1;
    const number = this.#sent;
    const { payload, subject, timeoutMs } = request;
    const dueMs = this.#clock.now() + timeoutMs;
    const onDue = () => this.#settle(number, refused("Ambiguous", `no answer within ${timeoutMs} ms`));
    const outcome = new Promise<AppendOutcome>((resolve) => {
      const pending = { resolve, dueMs, onDue, place: -1 };
      this.#pending.set(number, pending);
      this.#deadlines.add(pending);
    });
    const head = conditionHeaders(request.expectedLastSubjectSequence);
    this.#bus.nats.publish(subject, payload, { headers: head, reply: `${this.#inbox}.${number}` });
    return outcome;
  }

  /** Whatever is still in flight becomes `Ambiguous`. */
  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#deadlines.stop();
    this.#unfollow();
    if (!this.#bus.nats.isClosed()) this.#unsubscribe();
    this.#settleAll("the append channel was closed before the answer came");
  }

  #settle(number: number, outcome: AppendOutcome): void {
    const pending = this.#pending.delete(number);
    if (pending === undefined) return;
    this.#deadlines.delete(pending);
    pending.resolve(outcome);
  }

  #settleAll(description: string): void {
    for (const [number] of this.#pending.entries()) this.#settle(number, refused("Ambiguous", description));
  }
}

/** The headers of an append's condition. The client would take them apart and put them together again. */
function conditionHeaders(expectedLastSubjectSequence: bigint): MsgHdrs {
  const encode = () => Buffer.from(`NATS/1.0\r\n${expectedSequenceHeader}: ${expectedLastSubjectSequence}\r\n\r\n`);
  return Object.assign(headers(), { encode });
}

function refused(refusal: AppendRefusal, description: string, lastSequence?: bigint): AppendOutcome {
  return { kind: "refused", refusal, description, ...(lastSequence === undefined ? {} : { lastSequence }) };
}

const utf8 = new TextDecoder();

/**
 * The outcome that a reply tells. A 503 status is the server saying that nobody took the message, so it was not
 * applied; a reply that cannot be read proves nothing.
 */
export function outcomeOf(status: number, body: Uint8Array): AppendOutcome {
  if (status === 503) return refused("Unavailable", "no stream takes this subject right now");
  const reply = parseReply(body);
  if (typeof reply?.error === "object" && reply.error !== null) {
    const description = reply.error.description ?? `JetStream error ${reply.error.err_code}`;
    return refused(refusalOf(reply.error), description, lastSequenceOf(reply.error));
  }
  if (!Number.isSafeInteger(reply?.seq)) return refused("Ambiguous", "the answer could not be read");
  return { kind: "acked", sequence: BigInt(reply?.seq ?? 0) };
}

function parseReply(body: Uint8Array): { readonly seq?: number; readonly error?: JetStreamErrorReply } | undefined {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}
