import type { Attempt } from "@tenure/contracts";
import type { RequestOf, ResponseOf, UnaryMethod } from "../calls/methods.ts";
import { decodeResponse, encodeRequest } from "../calls/registry.ts";
import type { OpenAttempt } from "./attempts.ts";
import { ChangePlan } from "./change-plan.ts";
import type { CallOptions } from "./session.ts";

/** A change of any method, whose caller makes the request for each send. */
export class MadeChange<Method extends UnaryMethod> extends ChangePlan<ResponseOf<Method>> {
  readonly #parts: MadeChangeParts<Method>;

  constructor(parts: MadeChangeParts<Method>, options: CallOptions, callTimeoutMs: number) {
    super(parts.method, parts.open, options, callTimeoutMs);
    this.#parts = parts;
  }

  encode(sendNumber: bigint): Uint8Array {
    const { make, method } = this.#parts;
    return encodeRequest(method, make(this.open.attempt, sendNumber));
  }

  decode(bytes: Uint8Array): ResponseOf<Method> {
    return this.#parts.noted(decodeResponse(this.#parts.method, bytes));
  }
}

/** What a change is made of. */
export interface MadeChangeParts<Method extends UnaryMethod> {
  readonly method: Method;
  readonly open: OpenAttempt;
  make(attempt: Attempt, sendNumber: bigint): RequestOf<Method>;
  /** Takes note of the log position that a response shows, and gives it back. */
  noted(response: ResponseOf<Method>): ResponseOf<Method>;
}
