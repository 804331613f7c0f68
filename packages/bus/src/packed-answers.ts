import type { BusConnection } from "./bus-connection.ts";
import { failureHeaders } from "./call-headers.ts";
import { batchToken } from "./inbox.ts";
import { failureLabel, type PackedPart, packParts } from "./packed-parts.ts";
import { PartsOfTurn } from "./parts-of-turn.ts";

/** An answer on its way. */
interface Answer extends PackedPart {
  readonly method: string;
  readonly reply: string;
}

/** The answers of one turn to the calls that came in batches, in one message for each caller. */
export class PackedAnswers {
  readonly #connection: BusConnection;
  readonly #onLost: (method: string, reply: string) => void;
  /** By what begins the reply subjects of one caller. */
  readonly #answers: PartsOfTurn<Answer>;
  #lastPrefix = "";

  /** `onLost` is told of each answer that could not be sent. */
  constructor(connection: BusConnection, onLost: (method: string, reply: string) => void) {
    this.#connection = connection;
    this.#onLost = onLost;
    this.#answers = new PartsOfTurn(connection, (prefix, answers) => this.#send(prefix, answers));
  }

  add(method: string, reply: string, payload: Uint8Array, label: string): void {
    const numberAt = reply.lastIndexOf(".") + 1;
    const answer = { method, reply, number: Number(reply.slice(numberAt)), label, payload };
    // The same text for the same caller: one that was just put together is slow to look anything up by.
    const isLast = this.#lastPrefix.length === numberAt && reply.startsWith(this.#lastPrefix);
    if (!isLast) this.#lastPrefix = reply.slice(0, numberAt);
    this.#answers.add(this.#lastPrefix, answer, undefined);
  }

  /** Sends what waits for the end of the turn. */
  flush(): void {
    this.#answers.flush();
  }

  #send(prefix: string, answers: readonly Answer[]): void {
    const [first] = answers;
    if (first === undefined) return;
    const isSent =
      answers.length === 1 ? this.#sendOne(first) : this.#connection.send(prefix + batchToken, packParts(answers));
    if (!isSent) for (const { method, reply } of answers) this.#onLost(method, reply);
  }

  #sendOne({ label, payload, reply }: Answer): boolean {
    return this.#connection.send(
      reply,
      payload,
      undefined,
      label === failureLabel ? failureHeaders.headers : undefined,
    );
  }
}
