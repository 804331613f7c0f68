/**
 * A pending call of {@link Clock.schedule}. Cancelling is idempotent and safe after the call has run.
 */
export interface Timer {
  cancel(): void;
}

/**
 * The only source of time. Decisions compare durations on `now()`; `wall()` is for people and for wire
 * timestamps, and no decision reads it.
 */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary origin; never goes back, may be fractional. */
  now(): number;
  /** Milliseconds since the Unix epoch, for display and records only; may jump. */
  wall(): number;
  /** Runs `action` once, `delayMs` from now or later, never synchronously. The owner cancels it. */
  schedule(delayMs: number, action: () => void): Timer;
  /** Resolves `delayMs` from now; rejects at once with the signal's reason when it is aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay that a Node.js timer takes: beyond it a timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Shared by every clock: a sleep is a scheduled resolve that an abort cancels. */
export function sleepOn(clock: Pick<Clock, "schedule">, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.schedule(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** The machine's clock. Its timers keep the process alive until they fire or are cancelled. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  schedule(delayMs, action) {
    const timer = setTimeout(action, Math.min(Math.max(delayMs, 0), longestTimerMs));
    return { cancel: () => clearTimeout(timer) };
  },
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
};
