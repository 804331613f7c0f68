import type { BusConnection } from "./bus-connection.ts";
import { failureHeaders } from "./call-headers.ts";
import { batchToken } from "./inbox.ts";
import { failureLabel, type PackedPart, packParts } from "./packed-parts.ts";
import { PartsOfTurn } from "./parts-of-turn.ts";
import { type PackedReply, subjectOf } from "./reply.ts";

/** An answer on its way. */
interface Answer extends PackedPart {
  readonly method: string;
  readonly reply: PackedReply;
}

/** The answers of one turn to the calls that came in batches, in one message for each caller. */
export class PackedAnswers {
  readonly #connection: BusConnection;
  readonly #onLost: (method: string, reply: PackedReply) => void;
  readonly #answers: PartsOfTurn<Answer>;

  /** `onLost` is told of each answer that could not be sent. */
  constructor(connection: BusConnection, onLost: (method: string, reply: PackedReply) => void) {
    this.#connection = connection;
    this.#onLost = onLost;
    this.#answers = new PartsOfTurn(connection, (caller, answers) => this.#send(caller, answers));
  }

  add(method: string, reply: PackedReply, payload: Uint8Array, label: string): void {
    this.#answers.add(reply.caller, { method, reply, number: reply.number, label, payload }, undefined);
  }

  /** Sends what waits for the end of the turn. */
  flush(): void {
    this.#answers.flush();
  }

  #send(caller: string, answers: readonly Answer[]): void {
    const [first] = answers;
    if (first === undefined) return;
    const isSent =
      answers.length === 1 ? this.#sendOne(first) : this.#connection.send(caller + batchToken, packParts(answers));
    if (!isSent) for (const { method, reply } of answers) this.#onLost(method, reply);
  }

  #sendOne({ label, payload, reply }: Answer): boolean {
    return this.#connection.send(
      subjectOf(reply),
      payload,
      undefined,
      label === failureLabel ? failureHeaders.headers : undefined,
    );
  }
}
