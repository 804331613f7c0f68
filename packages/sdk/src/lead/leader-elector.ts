import type { Tenure } from "../instance/tenure.ts";
import type { LeaseInput } from "../term/lease-name.ts";
import { type DurationInput, optionError } from "../timing/duration-input.ts";

/** What client-go's `LeaderElectionConfig` has, under its names. */
export interface LeaderElectorConfig {
  /** The lease. */
  readonly lock: LeaseInput;
  /** Another candidate may lead this long after the last renewal. Default 15 s. */
  readonly leaseDuration?: DurationInput | undefined;
  /** The leader gives up this long after the send of its last good renewal. Default 11 s, which is H. */
  readonly renewDeadline?: DurationInput | undefined;
  /** Between two tries. Default 1 s. */
  readonly retryPeriod?: DurationInput | undefined;
  readonly callbacks: {
    /** Runs while this process leads; the signal is aborted before the lease can be another's. */
    readonly onStartedLeading: (signal: AbortSignal) => Promise<void> | void;
    /** Called once after {@link LeaderElector.run} led. */
    readonly onStoppedLeading: () => void;
    readonly onNewLeader?: ((identity: string) => void) | undefined;
  };
  /** Call `onStoppedLeading` also when it never led, as client-go does. Default false. */
  readonly alwaysCallStopped?: boolean | undefined;
}

/**
 * The shape of client-go's elector, for those who come from it: leads once and then returns. What it does differently
 * is what is unsound there: it never releases while the callback runs, `isLeader()` compares clocks, and a term that was
 * never won is never stopped.
 */
export class LeaderElector {
  readonly #tenure: Tenure;
  readonly #config: LeaderElectorConfig;
  #leader = "";

  /** Throws INVALID_ARGUMENT when a callback or the lock is missing; durations are checked by {@link run}. */
  constructor(tenure: Tenure, config: LeaderElectorConfig) {
    const { callbacks, lock } = config;
    if (lock === undefined || lock === "") throw optionError("lock", "must name the lease", "nothing");
    if (typeof callbacks?.onStartedLeading !== "function") {
      throw optionError("callbacks.onStartedLeading", "must be a function", "nothing");
    }
    if (typeof callbacks.onStoppedLeading !== "function") {
      throw optionError("callbacks.onStoppedLeading", "must be a function", "nothing");
    }
    this.#tenure = tenure;
    this.#config = config;
  }

  /** Campaigns, leads once, and returns when that is over or the signal is aborted. */
  async run(signal?: AbortSignal): Promise<void> {
    const { callbacks, lock, leaseDuration, renewDeadline, retryPeriod, alwaysCallStopped } = this.#config;
    const stopTelling = this.#tenure.onNewLeader(lock, (identity) => {
      this.#leader = identity;
      callbacks.onNewLeader?.(identity);
    });
    let hasLed = alwaysCallStopped ?? false;
    try {
      const timing = { leaseDuration, usableTerm: renewDeadline, renewInterval: retryPeriod };
      await this.#tenure.lead(lock, { ...timing, signal, once: true }, async (term) => {
        hasLed = true;
        try {
          await callbacks.onStartedLeading(term.signal);
        } catch (error) {
          // A callback that was told to stop may say so as it likes.
          if (!term.signal.aborted) throw error;
        }
      });
    } finally {
      stopTelling();
      if (hasLed) callbacks.onStoppedLeading();
    }
  }

  /** Whether this process leads at this very moment, by its own clock. */
  isLeader(): boolean {
    return (this.#tenure.termOf(this.#config.lock)?.remainingMs ?? 0) > 0;
  }

  /** The leader that was seen last; empty before the first. */
  getLeader(): string {
    return this.#leader;
  }
}
