import type { Timer } from "@tenure/kernel";

interface Happening {
  readonly atMs: number;
  readonly order: number;
  readonly action: () => void;
  isCancelled: boolean;
}

/**
 * The one true clock of a simulated world and the queue of everything that is going to happen in it. No real timer runs:
 * time jumps from one happening to the next, and what happens at one instant does so in the order in which it was asked
 * for, so a run depends on nothing but its seed.
 */
export class VirtualTime {
  readonly #heap: Happening[] = [];
  #nowMs = 0;
  #order = 0;
  #steps = 0;

  /** Ms since the world began. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** How many things have happened. */
  get steps(): number {
    return this.#steps;
  }

  /** Has `action` happen `delayMs` from now, after everything that was asked for that instant before. */
  after(delayMs: number, action: () => void): Timer {
    this.#order += 1;
    const happening = { atMs: this.#nowMs + Math.max(delayMs, 0), order: this.#order, action, isCancelled: false };
    this.#push(happening);
    return {
      cancel: () => {
        happening.isCancelled = true;
      },
    };
  }

  /** Lets the next thing happen and every promise that it settled run; false when nothing is left before `untilMs`. */
  async step(untilMs: number): Promise<boolean> {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.atMs > untilMs) {
        this.#nowMs = Math.max(this.#nowMs, untilMs);
        return false;
      }
      this.#pop();
      if (next.isCancelled) continue;
      this.#nowMs = next.atMs;
      this.#steps += 1;
      next.action();
      await settle();
      return true;
    }
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(happening);
    while (index > 0) {
      const parent = (index - 1) >>> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, happening)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = happening;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const isRight = right !== undefined && left !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (child === undefined || isBefore(last, child)) break;
      heap[index] = child;
      index = 2 * index + (isRight ? 2 : 1);
    }
    heap[index] = last;
  }
}

function isBefore(left: Happening, right: Happening): boolean {
  return left.atMs !== right.atMs ? left.atMs < right.atMs : left.order < right.order;
}

/** One turn of the event loop: every promise reaction that is ready has run when it resolves. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
