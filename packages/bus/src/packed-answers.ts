import type { BusConnection } from "./bus-connection.ts";
import { failureHeaders } from "./call-headers.ts";
import { atEndOfTurn } from "./end-of-turn.ts";
import { batchToken } from "./inbox.ts";
import { failureLabel, mostPackedBytes, type PackedPart, packParts, partBytes } from "./packed-parts.ts";

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
  readonly #waiting = new Map<string, { answers: Answer[]; bytes: number }>();
  #isScheduled = false;

  /** `onLost` is told of each answer that could not be sent. */
  constructor(connection: BusConnection, onLost: (method: string, reply: string) => void) {
    this.#connection = connection;
    this.#onLost = onLost;
  }

  add(method: string, reply: string, payload: Uint8Array, label: string): void {
    const numberAt = reply.lastIndexOf(".") + 1;
    const prefix = reply.slice(0, numberAt);
    const answer = { method, reply, number: Number(reply.slice(numberAt)), label, payload };
    let waiting = this.#waiting.get(prefix);
    if (waiting !== undefined && waiting.bytes + partBytes(answer) > mostPackedBytes(this.#connection)) {
      this.#send(prefix, waiting.answers);
      waiting = undefined;
    }
    if (waiting === undefined) {
      waiting = { answers: [], bytes: 0 };
      this.#waiting.set(prefix, waiting);
    }
    waiting.answers.push(answer);
    waiting.bytes += partBytes(answer);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    atEndOfTurn(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  /** Sends what waits for the end of the turn. */
  flush(): void {
    for (const [prefix, { answers }] of this.#waiting) this.#send(prefix, answers);
  }

  #send(prefix: string, answers: readonly Answer[]): void {
    this.#waiting.delete(prefix);
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
