import type { Clock, Fault, Timer } from "@tenure/kernel";
import type { CallMetadata } from "./call-headers.ts";
import type { CallContext } from "./call-options.ts";
import { deadlineExceeded } from "./faults.ts";
import type { TraceContext } from "./trace-context.ts";

/**
 * One call as its server sees it. The signal and the deadline's timer are made when a handler first asks for the
 * signal: most handlers answer at once and never do, and both cost more than the rest of the call.
 */
export class RunningCall implements CallContext {
  readonly method: string;
  readonly principal: string;
  readonly trace: TraceContext | undefined;
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #endMs: number;
  #controller: AbortController | undefined;
  #timer: Timer | undefined;
  #abortedWith: Fault | undefined;
  #isFinished = false;

  /** `deadlineMs` is what was left when the request arrived; Infinity means no deadline. */
  constructor(method: string, metadata: CallMetadata, deadlineMs: number, clock: Clock) {
    this.method = method;
    this.principal = metadata.principal;
    this.trace = metadata.trace;
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
    this.#endMs = clock.now() + deadlineMs;
  }

  get signal(): AbortSignal {
    this.#controller ??= this.#arm();
    return this.#controller.signal;
  }

  /** Why the call was aborted, once it is. */
  get abortedWith(): Fault | undefined {
    return this.#abortedWith;
  }

  remainingMs(): number {
    return Math.max(0, this.#endMs - this.#clock.now());
  }

  /** Aborts the handler's signal; the first reason stands. */
  abort(fault: Fault): void {
    if (this.#isFinished || this.#abortedWith !== undefined) return;
    this.#abortedWith = fault;
    this.#timer?.cancel();
    this.#controller?.abort(fault);
  }

  /** The handler has returned: nothing aborts it any more. */
  finish(): void {
    this.#isFinished = true;
    this.#timer?.cancel();
  }

  #arm(): AbortController {
    const controller = new AbortController();
    if (this.#abortedWith !== undefined) controller.abort(this.#abortedWith);
    else if (!this.#isFinished && this.#deadlineMs !== Number.POSITIVE_INFINITY) {
      const onDeadline = (): void => this.abort(deadlineExceeded(this.method, this.#deadlineMs));
      this.#timer = this.#clock.schedule(this.remainingMs(), onDeadline);
    }
    return controller;
  }
}
