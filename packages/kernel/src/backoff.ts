import type { Random } from "./random.ts";

/** How waits grow between tries. */
export interface BackoffOptions {
  readonly firstMs: number;
  readonly limitMs: number;
}

/**
 * Exponential back-off with jitter: try n waits between half and all of `firstMs * 2^n`, at most `limitMs`.
 * Half is kept fixed so that a fleet spreads out but nobody retries at once.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: Random;
  #tries = 0;

  constructor(options: BackoffOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** The wait before the next try, in milliseconds. */
  next(): number {
    const fullMs = Math.min(this.#options.firstMs * 2 ** Math.min(this.#tries, 30), this.#options.limitMs);
    this.#tries += 1;
    return fullMs / 2 + (this.#random.next() * fullMs) / 2;
  }

  /** Starts from the first wait again, after a success. */
  reset(): void {
    this.#tries = 0;
  }
}
