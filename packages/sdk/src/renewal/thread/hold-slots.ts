import { SharedInstants } from "./shared-instants.ts";

/**
 * The places of holds in memory that is shared with the renewing thread. A place is given to another hold only when the
 * thread writes into it no more.
 */
export class HoldSlots<Holder extends { readonly id: number; readonly slot: number }> {
  readonly instants = new SharedInstants();
  /** What the thread must be given to write into. */
  readonly pages: SharedArrayBuffer[] = [];
  readonly #onPage: (page: SharedArrayBuffer) => void;
  readonly #holders: (Holder | undefined)[] = [];
  /** Dropped, but the thread may still write into their slots; by the id of the hold. */
  readonly #leaving = new Map<number, number>();
  readonly #free: number[] = [];
  #used = 0;

  /** Tells of each page that is added. */
  constructor(onPage: (page: SharedArrayBuffer) => void) {
    this.#onPage = onPage;
  }

  /** A place that nobody writes into. */
  take(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#used === this.instants.size) {
      const page = this.instants.makePage();
      this.pages.push(page);
      this.#onPage(page);
    }
    this.#used += 1;
    return this.#used - 1;
  }

  at(slot: number): Holder | undefined {
    return this.#holders[slot];
  }

  enter(holder: Holder): void {
    this.#holders[holder.slot] = holder;
  }

  /** The hold is gone; its place is free once the thread has said so, or is gone too. */
  leave({ id, slot }: Holder): void {
    this.#holders[slot] = undefined;
    this.#leaving.set(id, slot);
  }

  /** The thread writes into the place of this hold no more. */
  free(id: number): void {
    const slot = this.#leaving.get(id);
    if (slot !== undefined) this.#free.push(slot);
    this.#leaving.delete(id);
  }

  /** A thread that is gone writes nothing any more. */
  freeAll(): void {
    for (const slot of this.#leaving.values()) this.#free.push(slot);
    this.#leaving.clear();
  }
}
