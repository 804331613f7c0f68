import type { HeldTerm } from "../term/held-term.ts";
import type { Term, TermSignal } from "../term/term.ts";

/** Several locks that were taken together. They are held only as long as every one of them is. */
export class LockSet implements AsyncDisposable {
  /** The locks, in the order in which they were named; each has its own token. */
  readonly locks: readonly Term[];
  /** Aborted as soon as the first of them ends. */
  readonly signal: TermSignal;
  readonly #terms: readonly HeldTerm[];

  constructor(terms: readonly HeldTerm[]) {
    this.locks = terms;
    this.#terms = terms;
    this.signal = AbortSignal.any(terms.map(({ signal }) => signal));
  }

  /** Ms until this process may act no more: that of the lock with the least. */
  get remainingMs(): number {
    return Math.min(...this.#terms.map(({ remainingMs }) => remainingMs));
  }

  /** Throws unless this process holds all of them now. */
  check(): void {
    for (const term of this.#terms) term.check();
  }

  /** Gives all of them back, as leaving the block does. */
  async release(): Promise<void> {
    await Promise.all(this.#terms.map((term) => term.release()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
