import { uptime } from "node:os";
import { type Clock, sleepOn, systemClock, type Timer } from "./clock.ts";

/** The machine's clocks that a holder's time is made of. All threads of a process read the same values. */
export interface ClockReadings {
  /** Ms since an origin that all threads share; may stand still while the machine is suspended. */
  monotonicMs(): number;
  /** Ms since an origin that all threads share, counting suspends; may be coarse. */
  bootMs(): number;
  /** Wall clock in ms; only a hint that the machine slept. */
  wallMs(): number;
}

/** The readings of this machine. `os.uptime` counts suspends and steps by 10 ms. */
export const systemReadings: ClockReadings = {
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  bootMs: () => uptime() * 1_000,
  wallMs: () => Date.now(),
};

/** How coarse the boot clock may be, and how far apart its reading and the monotonic one beside it may lie. */
const coarsenessMs = 20;
/** The boot clock is read at least this often: reading it costs several microseconds, the other two a fraction of one. */
const bootReadEveryMs = 100;
/** A wall clock that moved against the monotonic one by more than this has the boot clock read at once. */
const wallHintMs = 5;
const microsPerMs = 1_000;
/** Places in the shared memory: microseconds slept, and the first difference of the two clocks. */
const sleptPlace = 0;
const differencePlace = 1;

/** The clock's part that threads share: hand it to {@link HolderClock} in another thread and both show the same time. */
export type SharedTime = SharedArrayBuffer;

/**
 * The time that passed, as one who must stop in time counts it: the larger of monotonic time and of time since boot,
 * which goes on while the machine is suspended. It errs early: elapsed time is never less than what really passed, by
 * more than the clocks' own rate error. All threads of a process that share its memory show the same instants, so an
 * instant noted in one can be compared in another.
 *
 * Its timers are the machine's: after a suspend they may be late, so whoever acts asks `now()`.
 */
export class HolderClock implements Clock {
  /** For the same clock in another thread. */
  readonly shared: SharedTime;
  readonly #readings: ClockReadings;
  readonly #cells: BigInt64Array;
  #bootReadAtMs = Number.NEGATIVE_INFINITY;
  #wallAheadMs = 0;

  /** Without `shared` time starts anew; with it this is the clock that the memory belongs to. */
  constructor(shared?: SharedTime, readings: ClockReadings = systemReadings) {
    this.#readings = readings;
    this.shared = shared ?? new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
    this.#cells = new BigInt64Array(this.shared);
    if (shared === undefined) {
      const difference = readings.bootMs() - readings.monotonicMs();
      Atomics.store(this.#cells, differencePlace, BigInt(Math.round(difference * microsPerMs)));
    }
  }

  now(): number {
    const monotonicMs = this.#readings.monotonicMs();
    const wallAheadMs = this.#readings.wallMs() - monotonicMs;
    const isHinted = Math.abs(wallAheadMs - this.#wallAheadMs) > wallHintMs;
    if (isHinted || monotonicMs - this.#bootReadAtMs >= bootReadEveryMs) this.#noteSleep(wallAheadMs);
    return monotonicMs + Number(Atomics.load(this.#cells, sleptPlace)) / microsPerMs;
  }

  wall(): number {
    return this.#readings.wallMs();
  }

  schedule(delayMs: number, action: () => void): Timer {
    return systemClock.schedule(delayMs, action);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  #noteSleep(wallAheadMs: number): void {
    const bootMs = this.#readings.bootMs();
    // Read after the boot clock, so that a pause between the two readings is not taken for a suspend.
    const monotonicMs = this.#readings.monotonicMs();
    const firstDifferenceMs = Number(Atomics.load(this.#cells, differencePlace)) / microsPerMs;
    raise(this.#cells, bootMs - monotonicMs - firstDifferenceMs);
    this.#bootReadAtMs = monotonicMs;
    this.#wallAheadMs = wallAheadMs;
  }
}

/** Counts a suspend that is longer than the clocks are coarse, rounded up; never takes any of it back. */
function raise(cells: BigInt64Array, aheadMs: number): void {
  const slept = Atomics.load(cells, sleptPlace);
  if (aheadMs <= Number(slept) / microsPerMs + coarsenessMs) return;
  const raised = BigInt(Math.ceil((aheadMs + coarsenessMs) * microsPerMs));
  // Another thread may have counted the same suspend at the same time; one of the two values stands, both are enough.
  Atomics.compareExchange(cells, sleptPlace, slept, raised);
}
