import type { Clock } from "@tenure/kernel";

/** Lets through so many a second on average, and as many at once after a quiet second. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #perSecond: number;
  #tokens: number;
  #filledAtMs: number;

  /** 0 lets everything through. */
  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#tokens = perSecond;
    this.#filledAtMs = clock.now();
  }

  /** Whether one more may pass now. */
  take(): boolean {
    if (this.#perSecond === 0) return true;
    if (this.#tokens < 1) this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** When the next may pass, in milliseconds from now. */
  get retryAfterMs(): number {
    return this.#perSecond === 0 ? 0 : Math.ceil((1_000 * Math.max(0, 1 - this.#tokens)) / this.#perSecond);
  }

  #fill(): void {
    const now = this.#clock.now();
    this.#tokens = Math.min(this.#perSecond, this.#tokens + ((now - this.#filledAtMs) / 1_000) * this.#perSecond);
    this.#filledAtMs = now;
  }
}
