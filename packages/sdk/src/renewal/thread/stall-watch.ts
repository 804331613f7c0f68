/** What a watch goes by. */
export interface StallRules {
  /** σ: how long after its deadline a term's last effect may come. */
  readonly stopBoundMs: number;
  /** How long the main thread may show no life before its terms are no longer renewed. */
  readonly mainSilenceMs: number;
  /** How often the watch looks. */
  readonly stepMs: number;
}

/** The rules of a deployment's σ: looked at eight times per σ, so that half of it is left for the end of the process. */
export function stallRules(stopBoundMs: number, mainSilenceMs: number): StallRules {
  return { stopBoundMs, mainSilenceMs, stepMs: stopBoundMs / 8 };
}

/**
 * Judges from another thread whether the main thread still runs. Only time in which this thread itself was awake counts
 * as silence: after the whole process was stopped and continued, the main thread gets as long to show itself as after
 * any other moment.
 */
export class StallWatch {
  readonly #rules: StallRules;
  #lookedAtMs: number;
  #lastSeenMs = Number.NEGATIVE_INFINITY;
  #silentMs = 0;

  constructor(rules: StallRules, nowMs: number) {
    this.#rules = rules;
    this.#lookedAtMs = nowMs;
  }

  /** For how long the main thread has shown no life. */
  get silentMs(): number {
    return this.#silentMs;
  }

  /** Whether terms may be renewed on the main thread's behalf. */
  get mayRenew(): boolean {
    return this.#silentMs <= this.#rules.mainSilenceMs;
  }

  /** Looks at the last sign of life. Called every step, or later. */
  look(nowMs: number, mainSeenMs: number): void {
    const awakeMs = Math.min(nowMs - this.#lookedAtMs, 2 * this.#rules.stepMs);
    this.#lookedAtMs = nowMs;
    if (mainSeenMs > this.#lastSeenMs) {
      this.#lastSeenMs = mainSeenMs;
      this.#silentMs = 0;
    } else this.#silentMs += awakeMs;
  }

  /**
   * Whether a term that was to end at `deadlineMs` must be ended with the process: the deadline has passed and the main
   * thread has been silent for so long that it cannot be trusted to stop by itself within σ.
   */
  isStalledPast(deadlineMs: number, nowMs: number): boolean {
    return nowMs > deadlineMs && this.#silentMs >= this.#rules.stopBoundMs / 2;
  }
}
