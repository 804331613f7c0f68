import type { TenureError } from "../errors.ts";
import type { OpenAttempt } from "./attempts.ts";
import { isWorthAnotherSend } from "./retry.ts";
import type { CallOptions } from "./session.ts";
import type { UnaryPlan } from "./unary-call.ts";

/** A call that changes something, under an attempt that is over when the call is. */
export abstract class ChangePlan<Response> implements UnaryPlan<Response> {
  readonly method: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly traceparent: string | undefined;
  readonly isRepeatable = true;
  readonly isChange = true;
  protected readonly open: OpenAttempt;

  constructor(method: string, open: OpenAttempt, options: CallOptions, callTimeoutMs: number) {
    this.method = method;
    this.open = open;
    this.timeoutMs = options.timeoutMs ?? callTimeoutMs;
    this.signal = options.signal;
    this.traceparent = options.traceparent;
  }

  abstract encode(sendNumber: bigint): Uint8Array;

  abstract decode(bytes: Uint8Array): Response;

  isWorthAnotherSend(error: TenureError): boolean {
    return isWorthAnotherSend(error);
  }

  onOver(_isInDoubt: boolean): void {
    this.open.settle();
  }
}
