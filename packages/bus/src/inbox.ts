import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import { type Fault, NumberedItems } from "@tenure/kernel";
import { replyKind } from "./call-headers.ts";
import { natsPermissionDenied, noResponder, tooManyPendingCalls } from "./faults.ts";
import { type PackedPart, unpackParts } from "./packed-parts.ts";

/** Someone who waits for messages under a reply subject: a call or a stream. */
export interface Receiver {
  /** `<Service>.<Method>`, for messages. */
  readonly method: string;
  /** The subject that the request went to. */
  readonly subject: string;
  /** The batch that the request went in, if it did. */
  readonly batch?: number | undefined;
  receive(message: Msg): void;
  /** An answer that came in one message with others. */
  receivePart?(part: PackedPart): void;
  /** The wait is over, because of the connection; the receiver has been removed already. */
  fail(cause: ReceiverFailure): void;
}

/** Why the connection ends a wait. */
export type ReceiverFailure = "disconnected" | "closed" | Fault;

/** Begins the last token of a batch's reply subject, and is that of several answers in one message. */
export const batchToken = "b";

/** The most calls and streams that one connection waits for: each costs about a kilobyte. */
const receiverLimit = 100_000;

/**
 * The replies of one connection: a single wildcard subscription, and a number per call that ends its reply subject.
 * A message for a number that is not waited for (any more) is dropped, so a late reply can never reach another call.
 */
export class Inbox {
  readonly #prefix: string;
  readonly #receivers = new NumberedItems<Receiver>();
  readonly #nats: NatsConnection;
  #subscription: Subscription;
  readonly #onFault: (fault: unknown) => void;
  #lastId = 0;
  #refusal: Fault | undefined;

  constructor(nats: NatsConnection, prefix: string, onFault: (fault: unknown) => void) {
    this.#prefix = `${prefix}.`;
    this.#onFault = onFault;
    this.#nats = nats;
    this.#subscription = this.#subscribe();
  }

  /** Tries again after a reconnect if the server had refused the subscription: its permissions may have changed. */
  reopen(): void {
    if (this.#refusal === undefined) return;
    this.#refusal = undefined;
    this.#subscription = this.#subscribe();
  }

  /** Takes a receiver in and returns its number. */
  register(receiver: Receiver): number {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#receivers.size >= receiverLimit) throw tooManyPendingCalls(receiver.method, receiverLimit);
    this.#lastId += 1;
    this.#receivers.set(this.#lastId, receiver);
    return this.#lastId;
  }

  /** The subject whose messages reach the receiver of this number. */
  replySubject(id: number): string {
    return this.#prefix + id;
  }

  /** The reply subject of a batch: where its answers may come together, and the word that nobody listens. */
  batchSubject(number: number): string {
    return this.#prefix + batchToken + number;
  }

  /** Forgets a receiver; harmless when it is not there. */
  unregister(id: number): void {
    this.#receivers.delete(id);
  }

  /** Ends all waits, or those of one subject. */
  failAll(cause: ReceiverFailure, subject?: string): void {
    for (const [id, receiver] of this.#receivers.entries()) {
      if (subject !== undefined && receiver.subject !== subject) continue;
      this.#receivers.delete(id);
      receiver.fail(cause);
    }
  }

  #subscribe(): Subscription {
    return this.#nats.subscribe(`${this.#prefix}*`, {
      callback: (error, message) => this.#dispatch(error, message),
    });
  }

  // The client's reader dies with an exception of a callback, so none may leave this function.
  #dispatch(error: Error | null, message: Msg): void {
    try {
      if (error !== null) {
        this.#refusal = natsPermissionDenied("subscribe to", this.#subscription.getSubject());
        this.failAll(this.#refusal);
        this.#onFault(this.#refusal);
        return;
      }
      const token = message.subject.slice(this.#prefix.length);
      if (token.startsWith(batchToken)) this.#onBatch(message, Number(token.slice(batchToken.length)));
      else this.#receivers.get(Number(token))?.receive(message);
    } catch (thrown) {
      this.#onFault(thrown);
    }
  }

  #onBatch({ data, headers }: Msg, batch: number): void {
    if (headers === undefined || replyKind(headers) !== "no-responder") {
      for (const part of unpackParts(data)) this.#deliver(part);
      return;
    }
    for (const [id, receiver] of this.#receivers.entries()) {
      if (receiver.batch !== batch) continue;
      this.#receivers.delete(id);
      receiver.fail(noResponder(receiver.method, receiver.subject));
    }
  }

  /** What goes wrong with one answer does not concern the next. */
  #deliver(part: PackedPart): void {
    try {
      this.#receivers.get(part.number)?.receivePart?.(part);
    } catch (thrown) {
      this.#onFault(thrown);
    }
  }
}
