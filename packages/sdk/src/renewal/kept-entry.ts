import type { TenureError } from "../errors.ts";
import type { KeepListener, KeptHold } from "../session/session.ts";
import type { Cohort } from "./cohort.ts";

/** One hold that this thread renews. */
export class KeptEntry {
  readonly hold: KeptHold;
  readonly holdId: number;
  readonly listener: KeepListener;
  readonly cohort: Cohort;
  /** Nothing is told of it any more. */
  isStopped = false;
  /** The newest instant that is proven to be in the log. */
  provenAtMs: number;
  /** The number of the first send that named it; 0 before. */
  firstNumber = 0;
  /** The highest send number that was answered, as committed or as refused. */
  answeredNumber = 0;

  constructor(hold: KeptHold, listener: KeepListener, cohort: Cohort) {
    this.hold = hold;
    this.holdId = Number(hold.holdId);
    this.listener = listener;
    this.cohort = cohort;
    this.provenAtMs = hold.provenAtMs;
  }

  /**
   * Whether its holder finishes, or has finished, because no renewal was proven in time, as after a pause: a renewal would
   * only keep others from the lease for another L. One that was never proven has no deadline yet, and one whose drain is
   * not known has a holder that goes on.
   */
  isOver(nowMs: number): boolean {
    const { drainMs, usableTermMs } = this.hold;
    if (drainMs === undefined || !Number.isFinite(this.provenAtMs)) return false;
    return this.provenAtMs + usableTermMs - drainMs <= nowMs;
  }

  /** The highest send number up to which it waits for no answer. */
  get settledNumber(): number {
    return this.firstNumber === 0 ? Number.POSITIVE_INFINITY : Math.max(this.answeredNumber, this.firstNumber - 1);
  }

  /** Tells of a renewal that failed. */
  miss(error: TenureError): void {
    if (!this.isStopped) this.listener.onMissed(error);
  }

  /** Whether a send named it and neither that nor a later one was answered. */
  isUnanswered(sendNumber: number): boolean {
    return this.firstNumber !== 0 && this.firstNumber <= sendNumber && this.answeredNumber < sendNumber;
  }
}
