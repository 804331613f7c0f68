import type { Clock, Timer } from "@tenure/kernel";
import type { VirtualTime } from "./virtual-time.ts";

/** What makes one process's clock differ from the others'. */
export interface ProcessOptions {
  readonly name: string;
  /** Seconds of its clock in one true second: within 1 ± ρ. */
  readonly rate: number;
}

/** The wall clock when the world begins; nothing decides by it. */
const epochMs = 1_700_000_000_000;
/** No timer fires without any time having passed: code that counts in floating point may rely on it to get on. */
const shortestMs = 0.001;

/**
 * One simulated process: a clock of its own rate and an inbox. It can be paused (its clock goes on), suspended (its
 * monotonic clock stands, its boot clock goes on) and killed. Everything that reaches it, timers too, passes the inbox,
 * so nothing of it runs while it does not.
 */
export class SimulatedProcess implements Clock {
  readonly name: string;
  readonly rate: number;
  readonly #time: VirtualTime;
  readonly #bornAtMs: number;
  readonly #originMs: number;
  readonly #inbox: (() => void)[] = [];
  #suspendedMs = 0;
  #suspendedAtMs: number | undefined;
  #stoppedBy = 0;
  #isDead = false;
  #isPumping = false;
  #wallSkewMs = 0;

  constructor(time: VirtualTime, { name, rate }: ProcessOptions, originMs: number) {
    this.name = name;
    this.rate = rate;
    this.#time = time;
    this.#bornAtMs = time.nowMs;
    this.#originMs = originMs;
  }

  get isAlive(): boolean {
    return !this.#isDead;
  }

  get isStopped(): boolean {
    return this.#stoppedBy > 0;
  }

  /** Monotonic ms: stands still while the process is suspended. */
  now(): number {
    const sleptMs = this.#suspendedAtMs === undefined ? 0 : this.#time.nowMs - this.#suspendedAtMs;
    return this.boot() - (this.#suspendedMs + sleptMs) * this.rate;
  }

  /** Ms since boot: goes on while the process is suspended. What a holder counts by. */
  boot(): number {
    return this.#originMs + (this.#time.nowMs - this.#bornAtMs) * this.rate;
  }

  /** When, on the true clock, the boot clock shows `bootMs`. */
  trueTimeOf(bootMs: number): number {
    return this.#bornAtMs + (bootMs - this.#originMs) / this.rate;
  }

  wall(): number {
    return epochMs + Math.round(this.#time.nowMs) + this.#wallSkewMs;
  }

  jumpWall(byMs: number): void {
    this.#wallSkewMs += byMs;
  }

  schedule(delayMs: number, action: () => void): Timer {
    const dueMs = this.now() + Math.max(delayMs, 0);
    let isCancelled = false;
    const fire = (): void => {
      if (isCancelled) return;
      const leftMs = dueMs - this.now();
      if (leftMs > 0) arm(Math.max(leftMs, shortestMs));
      else action();
    };
    const arm = (leftMs: number): void => void this.#time.after(leftMs / this.rate, () => this.deliver(fire));
    arm(Math.max(delayMs, shortestMs));
    return {
      cancel: () => {
        isCancelled = true;
      },
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        timer.cancel();
        reject(signal?.reason);
      };
      const timer = this.schedule(delayMs, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Runs `action` in the process: now, or in order when it goes on, or never if it is dead. */
  deliver(action: () => void): void {
    if (this.#isDead) return;
    if (this.#stoppedBy === 0 && this.#inbox.length === 0) action();
    else this.#inbox.push(action);
  }

  /** The answer of something outside, received by the process. */
  receive<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.deliver(() => resolve(value)),
        (thrown) => this.deliver(() => reject(thrown)),
      );
    });
  }

  /** Stops the process for so long, as SIGSTOP does. */
  pause(forMs: number): void {
    this.#stoppedBy += 1;
    this.#time.after(forMs, () => this.#goOn());
  }

  /** Stops the process and its monotonic clock for so long, as the suspend of a machine does. */
  suspend(forMs: number): void {
    if (this.#suspendedAtMs !== undefined) return;
    this.#suspendedAtMs = this.#time.nowMs;
    this.#stoppedBy += 1;
    this.#time.after(forMs, () => {
      this.#suspendedMs += this.#time.nowMs - (this.#suspendedAtMs ?? this.#time.nowMs);
      this.#suspendedAtMs = undefined;
      this.#goOn();
    });
  }

  /** Ends it for good; nothing of it runs again. */
  kill(): void {
    this.#isDead = true;
    this.#inbox.length = 0;
  }

  #goOn(): void {
    this.#stoppedBy -= 1;
    if (this.#stoppedBy === 0 && !this.#isPumping && this.#inbox.length > 0) this.#pump();
  }

  /** Works off what arrived meanwhile, one step each. */
  #pump(): void {
    this.#isPumping = true;
    this.#time.after(0, () => {
      this.#isPumping = false;
      if (this.#isDead || this.#stoppedBy > 0) return;
      const next = this.#inbox[0];
      next?.();
      this.#inbox.shift();
      if (this.#inbox.length > 0) this.#pump();
    });
  }
}
