import { atEndOfTurn } from "@tenure/kernel";
import type { ThreadOrder } from "./messages.ts";

/** Orders to the renewing thread: those of a turn travel in one message. */
export class OrderQueue {
  readonly #post: (orders: readonly ThreadOrder[]) => void;
  #orders: ThreadOrder[] = [];
  #isDue = false;
  #isSending = false;

  constructor(post: (orders: readonly ThreadOrder[]) => void) {
    this.#post = post;
  }

  /** Sends it at the end of this turn. */
  add(order: ThreadOrder): void {
    this.#orders.push(order);
    if (this.#isDue) return;
    this.#isDue = true;
    atEndOfTurn(() => {
      this.#isDue = false;
      this.send();
    });
  }

  send(): void {
    const orders = this.#orders;
    this.#orders = [];
    if (orders.length > 0) this.#post(orders);
  }

  /** The terms that one message granted go together: all begin before any of their claims' callers goes on. */
  sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    queueMicrotask(() => {
      this.#isSending = false;
      this.send();
    });
  }

  /** Whom they were for is gone. */
  clear(): void {
    this.#orders = [];
  }
}
