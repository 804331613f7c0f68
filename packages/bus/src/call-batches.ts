import type { BusConnection } from "./bus-connection.ts";
import type { WireHeaders } from "./call-headers.ts";
import { busDisconnected } from "./faults.ts";
import { packParts } from "./packed-parts.ts";
import { PartsOfTurn } from "./parts-of-turn.ts";
import type { UnaryCall } from "./unary-call.ts";

/**
 * The routed calls that one turn makes travel together: one message for each service, route and set of headers. Each
 * call keeps its own number, answer, cancellation and failure. A call that is alone goes as it would without this.
 */
export class CallBatches {
  readonly #connection: BusConnection;
  readonly #calls: PartsOfTurn<UnaryCall, WireHeaders>;
  #lastNumber = 0;

  constructor(connection: BusConnection) {
    this.#connection = connection;
    this.#calls = new PartsOfTurn(connection, (subject, calls, headers) => this.#send(subject, calls, headers));
  }

  /** Sends a registered call with the others of this turn to `subject`, where its service and route take batches. */
  add(call: UnaryCall, subject: string, headers: WireHeaders): void {
    this.#calls.add(subject, call, headers);
  }

  /** Sends what waits for the end of the turn: before a message that must not overtake it. */
  flush(): void {
    this.#calls.flush();
  }

  #send(subject: string, calls: readonly UnaryCall[], headers: WireHeaders): void {
    // Those that are over were given up within the turn, and are never sent.
    const waiting = calls.filter(({ isOver }) => !isOver);
    const [first] = waiting;
    if (first === undefined) return;
    const isSent = waiting.length === 1 ? this.#sendOne(first, headers) : this.#sendAll(subject, waiting, headers);
    if (!isSent) for (const call of waiting) call.end(busDisconnected(call.method, "NO"));
  }

  #sendOne(call: UnaryCall, { headers }: WireHeaders): boolean {
    const { inbox } = this.#connection;
    return this.#connection.send(call.subject, call.payload, inbox.replySubject(call.number), headers);
  }

  #sendAll(subject: string, calls: readonly UnaryCall[], { headers }: WireHeaders): boolean {
    this.#lastNumber += 1;
    const reply = this.#connection.inbox.batchSubject(this.#lastNumber);
    for (const call of calls) call.sentWith(subject, this.#lastNumber);
    return this.#connection.send(subject, packParts(calls), reply, headers);
  }
}
