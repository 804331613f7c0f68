import type { MsgHdrs } from "@nats-io/transport-node";
import type { BusConnection } from "./bus-connection.ts";
import { encodeCallHeaders } from "./call-headers.ts";
import { busDisconnected } from "./faults.ts";
import { packParts } from "./packed-parts.ts";
import { PartsOfTurn } from "./parts-of-turn.ts";
import type { UnaryCall } from "./unary-call.ts";

/** What the calls of a batch have in common. */
interface BatchKind {
  readonly principal: string;
  shortestMs: number;
  longestMs: number;
}

/** Deadlines of which one is longer than another by more than this factor do not go together. */
const deadlineFactor = 2;

/**
 * The routed calls that one turn makes travel together: one message for each service, route and principal, as long as
 * their deadlines are about the same. The server is told the longest of these; each caller waits until its own, and then
 * cancels. Each call keeps its own number, answer, cancellation and failure. A call that is alone goes as it would without
 * this.
 */
export class CallBatches {
  readonly #connection: BusConnection;
  readonly #calls: PartsOfTurn<UnaryCall, BatchKind>;
  #lastNumber = 0;

  constructor(connection: BusConnection) {
    this.#connection = connection;
    this.#calls = new PartsOfTurn(
      connection,
      (subject, calls, { principal }) => this.#send(subject, calls, principal),
      joins,
    );
  }

  /** Sends a registered call with the others of this turn to `subject`, where its service and route take batches. */
  add(call: UnaryCall, subject: string, principal: string): void {
    this.#calls.add(subject, call, { principal, shortestMs: call.deadlineMs, longestMs: call.deadlineMs });
  }

  /** Sends what waits for the end of the turn: before a message that must not overtake it. */
  flush(): void {
    this.#calls.flush();
  }

  #send(subject: string, calls: readonly UnaryCall[], principal: string): void {
    // Those that are over were given up within the turn, and are never sent.
    const waiting = calls.filter(({ isOver }) => !isOver);
    const [first] = waiting;
    if (first === undefined) return;
    let deadlineMs = first.deadlineMs;
    for (const call of waiting) if (call.deadlineMs > deadlineMs) deadlineMs = call.deadlineMs;
    const { headers } = encodeCallHeaders({ deadlineMs, principal });
    const isSent =
      waiting.length === 1 ? this.#sendOne(first, headers) : this.#sendAll(subject, waiting, deadlineMs, headers);
    if (!isSent) for (const call of waiting) call.end(busDisconnected(call.method, "NO"));
  }

  #sendOne(call: UnaryCall, headers: MsgHdrs): boolean {
    const { inbox } = this.#connection;
    return this.#connection.send(call.subject, call.payload, inbox.replySubject(call.number), headers);
  }

  #sendAll(subject: string, calls: readonly UnaryCall[], deadlineMs: number, headers: MsgHdrs): boolean {
    this.#lastNumber += 1;
    const reply = this.#connection.inbox.batchSubject(this.#lastNumber);
    for (const call of calls) call.sentWith(subject, this.#lastNumber, deadlineMs);
    return this.#connection.send(subject, packParts(calls), reply, headers);
  }
}

function joins(batch: BatchKind, { longestMs, principal, shortestMs }: BatchKind): boolean {
  const shortest = Math.min(batch.shortestMs, shortestMs);
  const longest = Math.max(batch.longestMs, longestMs);
  if (principal !== batch.principal || longest > shortest * deadlineFactor) return false;
  batch.shortestMs = shortest;
  batch.longestMs = longest;
  return true;
}
