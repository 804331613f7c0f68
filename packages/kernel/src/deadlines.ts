import type { Clock, Timer } from "./clock.ts";
import { type Member, Members } from "./members.ts";

/** What has an instant at which time changes it. */
export interface Dated extends Member {
  /** When, on the clock; Infinity for never. May be put off at will; whoever brings it forward adds the item again. */
  readonly dueMs: number;
  /** The instant has come. The item is still in the set: it has deleted itself, or has another instant, afterwards. */
  onDue(): void;
}

/**
 * Very many deadlines that hardly ever come: a call's timeout, a term's end. One timer serves all, set for the earliest
 * that it was told of; adding and deleting an item touch neither it nor a map. When it fires, all items are looked at,
 * and it is set for the earliest that is left: for calls that are answered in time, once per timeout.
 */
export class Deadlines<Item extends Dated> {
  readonly #clock: Clock;
  readonly #items = new Members<Item>();
  #armedMs = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#items.size;
  }

  /** A copy, in no order. */
  get all(): readonly Item[] {
    return this.#items.all;
  }

  /** Takes an item in, or takes note that its instant is earlier than before. */
  add(item: Item): void {
    this.#items.add(item);
    if (item.dueMs < this.#armedMs) this.#arm(item.dueMs);
  }

  /** Forgets an item; harmless if it is not there. */
  delete(item: Item): void {
    this.#items.delete(item);
  }

  /** Tells nothing any more until something is added. */
  stop(): void {
    this.#timer?.cancel();
    this.#armedMs = Number.POSITIVE_INFINITY;
  }

  #arm(dueMs: number): void {
    this.#timer?.cancel();
    this.#armedMs = dueMs;
    this.#timer = this.#clock.schedule(dueMs - this.#clock.now(), () => this.#look());
  }

  #look(): void {
    this.#armedMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.now();
    try {
      for (const item of this.all) if (item.place >= 0 && item.dueMs <= nowMs) item.onDue();
    } finally {
      // Also when one of them throws: the others have their instants still.
      let nextMs = Number.POSITIVE_INFINITY;
      for (const { dueMs } of this.#items) if (dueMs < nextMs) nextMs = dueMs;
      if (nextMs < this.#armedMs) this.#arm(nextMs);
    }
  }
}
