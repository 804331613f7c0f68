import type { Clock } from "@tenure/kernel";

/** How long the past is kept for one who lists or begins to watch: the next page, or the resumed watch, comes sooner. */
const neededMs = 10_000;

/** Bounds of what is worth keeping. */
export interface PastBounds {
  readonly clock: Clock;
  /** Changes that are kept. */
  readonly keptChanges: number;
  /** A past that spans less than this serves nobody, because who was cut off takes longer to come back. */
  readonly leastMs: number;
}

/**
 * Whether the past is worth its price. While more changes in a moment than is kept, each change is kept just long enough
 * to grow old, which is what a garbage collector has most work with, and nobody can come back in time to ask for it.
 */
export class PastKeeping {
  readonly #bounds: PastBounds;
  #isKept = true;
  #facts = 0;
  #sinceMs: number;
  #neededUntilMs = Number.NEGATIVE_INFINITY;

  constructor(bounds: PastBounds) {
    this.#bounds = bounds;
    this.#sinceMs = bounds.clock.now();
  }

  get isKept(): boolean {
    return this.#isKept;
  }

  /** So many facts were applied; tells whether that changes what is kept. */
  note(facts: number): boolean {
    const { clock, keptChanges, leastMs } = this.#bounds;
    this.#facts += facts;
    const now = clock.now();
    const passedMs = now - this.#sinceMs;
    if (passedMs < leastMs) return false;
    const inThatTime = (this.#facts * leastMs) / passedMs;
    this.#facts = 0;
    this.#sinceMs = now;
    // Half of it on the way back, so that a steady rate does not have it change its mind again and again.
    const most = this.#isKept ? keptChanges : keptChanges / 2;
    return this.#set(inThatTime <= most || now < this.#neededUntilMs);
  }

  /** Somebody is going to ask for what comes from now on; tells whether that changes what is kept. */
  need(): boolean {
    this.#neededUntilMs = this.#bounds.clock.now() + neededMs;
    return this.#set(true);
  }

  #set(isKept: boolean): boolean {
    const isOther = isKept !== this.#isKept;
    this.#isKept = isKept;
    return isOther;
  }
}
