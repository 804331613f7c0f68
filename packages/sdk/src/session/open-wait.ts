import { durationFromMs, type Wait } from "@tenure/contracts";
import type { Clock } from "@tenure/kernel";
import type { TenureError } from "../errors.ts";

/** A claim's wait: how long it has stood in the queue, and how much longer it may. */
export class OpenWait {
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #waitMs: number;
  readonly #supersedesKey: string | undefined;

  constructor(clock: Clock, waitMs: number, supersedesKey: string | undefined) {
    this.#clock = clock;
    this.#startedAtMs = clock.now();
    this.#waitMs = waitMs;
    this.#supersedesKey = supersedesKey;
  }

  /** As it is sent now. */
  message(): Wait {
    const ageMs = this.#clock.now() - this.#startedAtMs;
    // Durations of the API are in whole milliseconds.
    const leftMs = Math.max(1, Math.ceil(this.#waitMs - ageMs));
    return {
      timeout: Number.isFinite(leftMs) ? durationFromMs(leftMs) : undefined,
      age: durationFromMs(Math.floor(ageMs)),
      beatNumber: 0n,
      supersedesKey: this.#supersedesKey,
    };
  }

  /** Whether the service ended the wait although its time is not over: it lost sight of the client, or of the call. */
  isCutShort({ code, reason }: TenureError): boolean {
    const isEnd = reason === "WAIT_ENDED" || code === "DEADLINE_EXCEEDED";
    return isEnd && this.#clock.now() - this.#startedAtMs < this.#waitMs - 1;
  }
}
