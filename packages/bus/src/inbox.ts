import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import type { Fault } from "@tenure/kernel";
import { natsPermissionDenied, tooManyPendingCalls } from "./faults.ts";

/** Someone who waits for messages under a reply subject: a call or a stream. */
export interface Receiver {
  /** `<Service>.<Method>`, for messages. */
  readonly method: string;
  /** The subject that the request went to. */
  readonly subject: string;
  receive(message: Msg): void;
  /** The wait is over, because of the connection; the receiver has been removed already. */
  fail(cause: ReceiverFailure): void;
}

/** Why the connection ends a wait. */
export type ReceiverFailure = "disconnected" | "closed" | Fault;

/** The most calls and streams that one connection waits for: each costs about a kilobyte. */
const receiverLimit = 100_000;

/**
 * The replies of one connection: a single wildcard subscription, and a number per call that ends its reply subject.
 * A message for a number that is not waited for (any more) is dropped, so a late reply can never reach another call.
 */
export class Inbox {
  readonly #prefix: string;
  readonly #receivers = new Map<number, Receiver>();
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

  /** Forgets a receiver; harmless when it is not there. */
  unregister(id: number): void {
    this.#receivers.delete(id);
  }

  /** Ends all waits, or those of one subject. */
  failAll(cause: ReceiverFailure, subject?: string): void {
    for (const [id, receiver] of [...this.#receivers]) {
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
      this.#receivers.get(Number(message.subject.slice(this.#prefix.length)))?.receive(message);
    } catch (thrown) {
      this.#onFault(thrown);
    }
  }
}
