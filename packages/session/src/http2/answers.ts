import type { Writable } from "node:stream";
import { ErrorCode, ProtocolError } from "./protocol-error.ts";

/** Answers, of some 17 bytes each, that may wait for a peer which does not read them. */
const mostUnread = 10_000;

/** What the frames of a peer are answered: together for those that came together, so that many cost one write. */
export class Answers {
  readonly #socket: Writable;
  #waiting: Buffer[] = [];
  #unread = 0;

  constructor(socket: Writable) {
    this.#socket = socket;
  }

  add(bytes: Buffer): void {
    this.#waiting.push(bytes);
  }

  /** Sends what was added. Throws for a peer that asks and does not read. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    if (!this.#socket.writableNeedDrain) this.#unread = 0;
    this.#unread += this.#waiting.length;
    if (this.#unread > mostUnread) throw new ProtocolError(ErrorCode.calm, "it reads nothing");
    const all = Buffer.concat(this.#waiting);
    this.#waiting = [];
    if (!this.#socket.writableEnded) this.#socket.write(all);
  }
}
