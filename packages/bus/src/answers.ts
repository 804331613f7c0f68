import { Fault } from "@tenure/kernel";
import type { BusConnection } from "./bus-connection.ts";
import { failureHeaders } from "./call-headers.ts";
import { encodeFailure } from "./failure.ts";
import { busDisconnected, handlerFailed, payloadTooLarge } from "./faults.ts";
import { PackedAnswers } from "./packed-answers.ts";
import { failureLabel } from "./packed-parts.ts";
import { type Reply, subjectOf } from "./reply.ts";

/** Answers that were lost to a disconnect are remembered up to this many; the callers of the rest wait until their deadline. */
const lostLimit = 10_000;

/**
 * Sends answers to callers. One that falls due while the connection is down is not kept for later; instead its caller
 * is told after the reconnect that the outcome is unknown, which is sooner than its deadline.
 */
export class Answers {
  readonly #connection: BusConnection;
  readonly #lost = new Map<string, string>();
  readonly #packed: PackedAnswers;
  readonly #ignoreStatus: () => void;

  constructor(connection: BusConnection) {
    this.#connection = connection;
    this.#packed = new PackedAnswers(connection, (method, reply) => this.remember(method, reply));
    this.#ignoreStatus = connection.onStatus((status) => {
      if (status === "connected") this.#confess();
    });
  }

  /** Sends a response, with the turn's others to the same caller if it takes them together; one that is too large becomes that failure. */
  respond(method: string, reply: Reply, payload: Uint8Array): void {
    const limitBytes = this.#connection.maxPayloadBytes;
    if (payload.byteLength > limitBytes) {
      const fault = payloadTooLarge(`the response of ${method}`, payload.byteLength, limitBytes, "UNKNOWN");
      this.fail(method, reply, fault);
    } else if (typeof reply !== "string") this.#packed.add(method, reply, payload, "");
    else if (!this.#connection.send(reply, payload)) this.remember(method, reply);
  }

  /** Sends a failure. */
  fail(method: string, reply: Reply, fault: Fault): void {
    const { headers, byteLength } = failureHeaders;
    const payload = encodeFailure(method, fault, this.#connection.maxPayloadBytes - byteLength);
    if (typeof reply !== "string") this.#packed.add(method, reply, payload, failureLabel);
    else if (!this.#connection.send(reply, payload, undefined, headers)) this.remember(method, reply);
  }

  /** The caller under `reply` is to be told after the reconnect that its call was lost. */
  remember(method: string, reply: Reply): void {
    if (this.#lost.size < lostLimit) this.#lost.set(subjectOf(reply), method);
  }

  /** What the caller is told of what a handler threw: a Fault as it is, anything else only that it failed. */
  faultOf(thrown: unknown, method: string): Fault {
    return thrown instanceof Fault ? thrown : handlerFailed(method, this.#connection.instance);
  }

  stop(): void {
    this.#packed.flush();
    this.#ignoreStatus();
    this.#lost.clear();
  }

  #confess(): void {
    const lost = [...this.#lost];
    this.#lost.clear();
    for (const [reply, method] of lost) this.fail(method, reply, busDisconnected(method, "UNKNOWN"));
  }
}
