import { Backoff, type Clock, type Random, type Timer } from "@tenure/kernel";
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
  /** Told before the call rejects when a copy of it may have happened, or may still. */
  onDoubt?: (() => void) | undefined;
}

/** Where calls go. */
export interface CallPort {
  readonly clock: Clock;
  readonly random: Random;
  add(call: WireCall): void;
  drop(call: WireCall): void;
  /** Told every response, and what every refusal says, before the caller. */
  onAnswer?(answer: unknown): void;
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
export class UnaryCall<Response> implements WireCall {
  readonly method: string;
  readonly traceparent: string;
  readonly credit = 0;
  readonly answer: Promise<Response>;
  readonly #plan: UnaryPlan<Response>;
  readonly #port: CallPort;
  readonly #endsAtMs: number;
  #backoff: Backoff | undefined;
  #timer: Timer | undefined;
  #pause: Timer | undefined;
  #isOver = false;
  /** It was sent and not answered. */
  #isUnderWay = false;
  /** A copy of it was sent whose outcome nobody told: it may have happened, or still happen. */
  #isDoubtful = false;
  #lastError: TenureError | undefined;
  #resolve: (response: Response) => void = () => {};
  #reject: (error: TenureError) => void = () => {};

  constructor(plan: UnaryPlan<Response>, port: CallPort) {
    this.#plan = plan;
    this.#port = port;
    this.method = plan.method;
    this.traceparent = plan.traceparent ?? "";
    this.#endsAtMs = port.clock.now() + plan.timeoutMs;
    this.answer = new Promise<Response>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#begin();
  }

  encode(sendNumber: bigint): Uint8Array {
    return this.#plan.encode(sendNumber);
  }

  serverTimeoutMs(): number | undefined {
    this.#isUnderWay = true;
    // Whole milliseconds: calls of one turn have the same, and can travel on together.
    const remainingMs = Math.max(1, Math.ceil(this.#endsAtMs - this.#port.clock.now()));
    return this.#plan.serverTimeoutMs ?? (Number.isFinite(remainingMs) ? remainingMs : undefined);
  }

  onResponse(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#end();
    try {
      const response = this.#plan.decode(bytes);
      this.#port.onAnswer?.(response);
      this.#resolve(response);
    } catch (thrown) {
      this.#reject(toTenureError(thrown));
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
    this.#port.onAnswer?.(error.details);
    if (!this.#plan.isWorthAnotherSend(error)) {
      this.#fail(error);
      return;
    }
    this.#backoff ??= new Backoff(retryBackoff, this.#port.random);
    const pauseMs = Math.max(this.#backoff.next(), error.details.retryAfterMs ?? 0);
    if (this.#port.clock.now() + pauseMs >= this.#endsAtMs) {
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
    const { signal, timeoutMs } = this.#plan;
    if (signal?.aborted) {
      this.#fail(abortedError(signal, this.method, this.#applied()));
      return;
    }
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (Number.isFinite(timeoutMs)) this.#timer = this.#port.clock.schedule(timeoutMs, () => this.#onTimeout());
    this.#port.add(this);
  }

  readonly #onAbort = (): void => {
    const { signal } = this.#plan;
    if (signal === undefined || this.#isOver) return;
    this.#port.drop(this);
    this.#fail(abortedError(signal, this.method, this.#applied()));
  };

  #onTimeout(): void {
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
    if (applied === "UNKNOWN") this.#plan.onDoubt?.();
    this.#reject(error.applied === "NO" && applied === "UNKNOWN" ? doubtful(error) : error);
  }

  #end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#pause?.cancel();
    this.#plan.signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** The same refusal, without its certainty. */
function doubtful(error: TenureError): TenureError {
  const { cause, code, details, message, reason, retryable } = error;
  return new TenureError({ code, reason, message, retryable, details, applied: "UNKNOWN", cause });
}
