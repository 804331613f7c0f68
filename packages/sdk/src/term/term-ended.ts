import { TenureError } from "../errors.ts";
import type { LeaseName } from "./lease-name.ts";
import { describeEnd, isOnRequest, type TermEnd } from "./term-end.ts";

/**
 * The reason of `term.signal`, and what `term.check()` throws. `end.kind` says why; a `switch` over it is checked by the
 * compiler.
 */
export class TermEnded extends TenureError {
  readonly lease: LeaseName;
  readonly token: bigint;
  /** Why the term ended. */
  readonly end: TermEnd;

  constructor(lease: LeaseName, token: bigint, end: TermEnd) {
    const name = `${lease.namespace}/${lease.name}`;
    super({
      code: isOnRequest(end) ? "CANCELLED" : "FAILED_PRECONDITION",
      reason: "TERM_OVER",
      message: `the term of lease ${name} (token ${token}) ended: ${describeEnd(end)}`,
      retryable: false,
      details: { lease: name, token, ...(end.kind === "end-of-term" ? { successor: end.successor } : {}) },
      cause: "cause" in end ? end.cause : undefined,
    });
    this.lease = lease;
    this.token = token;
    this.end = end;
  }
}

/** Whether a thrown value, or the reason of a signal, is the end of a term. */
export function isTermEnded(thrown: unknown): thrown is TermEnded {
  return thrown instanceof TenureError && thrown.reason === "TERM_OVER" && "end" in thrown;
}
