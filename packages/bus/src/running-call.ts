import type { Clock, Dated, Deadlines, Fault } from "@tenure/kernel";
import type { CallMetadata } from "./call-headers.ts";
import type { CallContext } from "./call-options.ts";
import { deadlineExceeded } from "./faults.ts";
import type { TraceContext } from "./trace-context.ts";

/** What the deadlines of calls stand on. */
export interface CallTime {
  readonly clock: Clock;
  readonly deadlines: Deadlines<Dated>;
}

/**
 * One call as its server sees it. The signal is made when a handler first asks for it, and the deadline is watched from
 * when somebody wants to know of an abort: most handlers answer at once and never do.
 */
export class RunningCall implements CallContext, Dated {
  readonly method: string;
  readonly principal: string;
  readonly trace: TraceContext | undefined;
  /** When it has taken too long. */
  readonly dueMs: number;
  place = -1;
  readonly #time: CallTime;
  readonly #deadlineMs: number;
  #controller: AbortController | undefined;
  #listener: ((why: Fault) => void) | undefined;
  #abortedWith: Fault | undefined;
  #isFinished = false;

  /** `deadlineMs` is what was left when the request arrived; Infinity means no deadline. */
  constructor(method: string, metadata: CallMetadata, deadlineMs: number, time: CallTime) {
    this.method = method;
    this.principal = metadata.principal;
    this.trace = metadata.trace;
    this.dueMs = time.clock.now() + deadlineMs;
    this.#time = time;
    this.#deadlineMs = deadlineMs;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortedWith === undefined) this.#watchDeadline();
      else this.#controller.abort(this.#abortedWith);
    }
    return this.#controller.signal;
  }

  /** Why the call was aborted, once it is. */
  get abortedWith(): Fault | undefined {
    return this.#abortedWith;
  }

  remainingMs(): number {
    return Math.max(0, this.dueMs - this.#time.clock.now());
  }

  onAbort(listener: ((why: Fault) => void) | undefined): void {
    this.#listener = listener;
    if (listener === undefined) return;
    if (this.#abortedWith === undefined) this.#watchDeadline();
    else listener(this.#abortedWith);
  }

  /** Tells the handler that nobody waits for it any more; the first reason stands. */
  abort(fault: Fault): void {
    if (this.#isFinished || this.#abortedWith !== undefined) return;
    this.#abortedWith = fault;
    this.#time.deadlines.delete(this);
    this.#controller?.abort(fault);
    this.#listener?.(fault);
  }

  onDue(): void {
    this.abort(deadlineExceeded(this.method, this.#deadlineMs));
  }

  /** The handler has returned: nothing aborts it any more. */
  finish(): void {
    this.#isFinished = true;
    this.#listener = undefined;
    this.#time.deadlines.delete(this);
  }

  #watchDeadline(): void {
    if (!this.#isFinished && this.dueMs !== Number.POSITIVE_INFINITY) this.#time.deadlines.add(this);
  }
}
