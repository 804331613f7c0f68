import { Backoff, type Clock, type Dated, type Deadlines, onAbort, type Random, type Timer } from "@tenure/kernel";
import { abortedError, TenureError, toTenureError } from "../errors.ts";
import type { WireCall } from "./call-table.ts";

/** What a unary call is and how far it goes. */
export interface UnaryPlan<Response> {
  readonly method: string;
  encode(sendNumber: bigint): Uint8Array;
  decode(bytes: Uint8Array): Response;
  /** How long the caller waits for everything; Infinity waits until aborted. */
  readonly timeoutMs: number;
  /** How long the server may take for one send; the remaining time when absent. */
  readonly serverTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
  /** Whether sending it again does no harm: it only reads, or it carries an attempt. */
  readonly isRepeatable: boolean;
  /** Whether it changes something, so that its errors say whether they were applied. */
  readonly isChange: boolean;
  /** Whether a refusal is worth another send of the same. */
  isWorthAnotherSend(error: TenureError): boolean;
  /** Told once, before the caller: it will not be sent again. In doubt a copy of it may have happened, or may still. */
  onOver?(isInDoubt: boolean): void;
}

/** Where calls go. */
export interface CallPort {
  readonly clock: Clock;
  readonly random: Random;
  add(call: WireCall): void;
  drop(call: WireCall): void;
  /** The timeouts of all calls. */
  readonly deadlines: Deadlines<Dated>;
  /** Told what every refusal says, before the caller. */
  onRefusal?(details: object): void;
}

/** Codes of refusals that leave open what happened, unless they say. */
const undecidedCodes: ReadonlySet<string> = new Set([
  "CANCELLED",
  "UNKNOWN",
  "DEADLINE_EXCEEDED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
]);

const retryBackoff = { firstMs: 20, limitMs: 1_000 };

/**
 * One unary call from its caller's point of view: answered once, by the first answer that comes, or ended by its
 * timeout or signal. It may be sent several times, one after the other.
 */
export class UnaryCall<Response> implements WireCall, Dated {
  readonly method: string;
  readonly traceparent: string;
  readonly credit = 0;
  readonly dueMs: number;
  number = 0;
  place = -1;
  readonly answer: Promise<Response>;
  readonly #plan: UnaryPlan<Response>;
  readonly #port: CallPort;
  #backoff: Backoff | undefined;
  #pause: Timer | undefined;
  #ignoreSignal: (() => void) | undefined;
  #isOver = false;
  /** It was sent and not answered. */
  #isUnderWay = false;
  /** A copy of it was sent whose outcome nobody told: it may have happened, or still happen. */
  #isDoubtful = false;
  #lastError: TenureError | undefined;
  #resolve: ((response: Response) => void) | undefined;
  #reject: ((error: TenureError) => void) | undefined;

  constructor(plan: UnaryPlan<Response>, port: CallPort) {
    this.#plan = plan;
    this.#port = port;
    this.method = plan.method;
    this.traceparent = plan.traceparent ?? "";
    this.dueMs = port.clock.now() + plan.timeoutMs;
    this.answer = new Promise<Response>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#begin();
  }

  encode(sendNumber: bigint): Uint8Array {
    return this.#plan.encode(sendNumber);
  }

  serverTimeoutMs(nowMs: number): number | undefined {
    this.#isUnderWay = true;
    // Whole milliseconds: calls of one turn have the same, and can travel on together.
    const remainingMs = Math.max(1, Math.ceil(this.dueMs - nowMs));
    return this.#plan.serverTimeoutMs ?? (Number.isFinite(remainingMs) ? remainingMs : undefined);
  }

  onResponse(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#end();
    this.#plan.onOver?.(false);
    try {
      this.#resolve?.(this.#plan.decode(bytes));
    } catch (thrown) {
      this.#reject?.(toTenureError(thrown));
    }
  }

  onEnd(): void {
    if (this.#isOver) return;
    // Only a server that breaks the protocol ends a unary call without an answer.
    const message = `${this.method} was ended without an answer`;
    this.#fail(new TenureError({ code: "INTERNAL", reason: "INTERNAL", message, applied: this.#applied() }));
  }

  onFailure(error: TenureError): void {
    if (this.#isOver) return;
    this.#lastError = error;
    const isOpen = error.applied === "UNKNOWN" || (error.applied === undefined && undecidedCodes.has(error.code));
    this.#isDoubtful ||= this.#isUnderWay && isOpen;
    this.#isUnderWay = false;
    this.#port.onRefusal?.(error.details);
    if (!this.#plan.isWorthAnotherSend(error)) {
      this.#fail(error);
      return;
    }
    this.#backoff ??= new Backoff(retryBackoff, this.#port.random);
    const pauseMs = Math.max(this.#backoff.next(), error.details.retryAfterMs ?? 0);
    if (this.#port.clock.now() + pauseMs >= this.dueMs) {
      this.#fail(error);
      return;
    }
    this.#pause = this.#port.clock.schedule(pauseMs, () => this.#port.add(this));
  }

  onBroken(error: TenureError): void {
    if (this.#isOver) return;
    this.#lastError = error;
    this.#isDoubtful = true;
    this.#isUnderWay = false;
    if (this.#plan.isRepeatable && error.reason !== "SESSION_CLOSED") this.#port.add(this);
    else this.#fail(this.#broken(error));
  }

  #begin(): void {
    const { signal } = this.#plan;
    if (signal?.aborted) {
      this.#fail(abortedError(signal, this.method, this.#applied()));
      return;
    }
    if (signal !== undefined) this.#ignoreSignal = onAbort(signal, () => this.#onAbort(signal));
    this.#port.deadlines.add(this);
    this.#port.add(this);
  }

  #onAbort(signal: AbortSignal): void {
    if (this.#isOver) return;
    this.#port.drop(this);
    this.#fail(abortedError(signal, this.method, this.#applied()));
  }

  /** Its timeout has passed. */
  onDue(): void {
    if (this.#isOver) return;
    this.#port.drop(this);
    const { timeoutMs } = this.#plan;
    const why = this.#lastError === undefined ? "" : `: ${this.#lastError.message}`;
    this.#fail(
      new TenureError({
        code: "DEADLINE_EXCEEDED",
        reason: "DEADLINE_EXCEEDED",
        message: `${this.method} was not answered within ${timeoutMs} ms${why}`,
        retryable: true,
        applied: this.#applied(),
        cause: this.#lastError,
      }),
    );
  }

  /** A refusal that came is certain only of its own copy: an earlier one that nobody answered for may still happen. */
  #applied(): "NO" | "UNKNOWN" | undefined {
    if (!this.#plan.isChange) return undefined;
    return this.#isUnderWay || this.#isDoubtful ? "UNKNOWN" : "NO";
  }

  #broken(cause: TenureError): TenureError {
    const { code, reason, message } = cause;
    return new TenureError({ code, reason, message: `${this.method}: ${message}`, applied: this.#applied(), cause });
  }

  #fail(error: TenureError): void {
    if (this.#isOver) return;
    this.#end();
    const applied = this.#applied();
    this.#plan.onOver?.(applied === "UNKNOWN");
    this.#reject?.(error.applied === "NO" && applied === "UNKNOWN" ? doubtful(error) : error);
  }

  #end(): void {
    this.#isOver = true;
    this.#port.deadlines.delete(this);
    this.#pause?.cancel();
    this.#ignoreSignal?.();
  }
}

/** The same refusal, without its certainty. */
function doubtful(error: TenureError): TenureError {
  const { cause, code, details, message, reason, retryable } = error;
  return new TenureError({ code, reason, message, retryable, details, applied: "UNKNOWN", cause });
}
