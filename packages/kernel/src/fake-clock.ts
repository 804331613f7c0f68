import type { Clock, Timer } from "./clock.ts";
import { sleepOn } from "./clock.ts";

interface Pending {
  readonly dueMs: number;
  readonly order: number;
  readonly action: () => void;
}

/**
 * A clock that moves only when a test says so. Timers fire in order of their due time, then of their creation,
 * with `now()` standing at the due time, so that a run is the same every time.
 */
export class FakeClock implements Clock {
  #nowMs: number;
  #wallMs: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(options: { readonly startMs?: number; readonly wallMs?: number } = {}) {
    this.#nowMs = options.startMs ?? 0;
    this.#wallMs = options.wallMs ?? 1_700_000_000_000;
  }

  now(): number {
    return this.#nowMs;
  }

  wall(): number {
    return this.#wallMs;
  }

  schedule(delayMs: number, action: () => void): Timer {
    this.#order += 1;
    const pending: Pending = { dueMs: this.#nowMs + Math.max(delayMs, 0), order: this.#order, action };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** How many timers wait: a test that stopped everything expects 0. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** Moves the wall clock alone, as an operator or a time daemon would. */
  jumpWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** Moves time forward, firing what falls due and letting promises settle after each timer. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#pending.delete(next);
      this.#moveTo(next.dueMs);
      next.action();
      await settle();
    }
    this.#moveTo(untilMs);
    await settle();
  }

  #moveTo(nowMs: number): void {
    this.#wallMs += nowMs - this.#nowMs;
    this.#nowMs = nowMs;
  }

  #next(untilMs: number): Pending | undefined {
    let first: Pending | undefined;
    for (const pending of this.#pending) {
      if (pending.dueMs > untilMs) continue;
      if (
        first === undefined ||
        pending.dueMs < first.dueMs ||
        (pending.dueMs === first.dueMs && pending.order < first.order)
      ) {
        first = pending;
      }
    }
    return first;
  }
}

/** One turn of the event loop: every promise reaction that is ready has run when it resolves. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
