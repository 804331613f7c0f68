import { abortedError, type TenureError, toTenureError } from "../errors.ts";
import type { WireCall } from "./call-table.ts";

/** What a stream asks for. */
export interface StreamPlan<Response> {
  readonly method: string;
  encode(): Uint8Array;
  decode(bytes: Uint8Array): Response;
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
  /** How many responses may be under way before the consumer has taken them. */
  readonly credit: number;
}

/** Where streams go. */
export interface StreamPort {
  add(call: WireCall): void;
  drop(call: WireCall): void;
  /** Tells the server that there is room for more. */
  grant(call: WireCall, responses: number): void;
}

/**
 * One server stream as its consumer reads it. At most `credit` responses wait here: the server sends no more before it
 * is told of room. A break ends it with a retryable error after what had arrived.
 */
export class StreamCall<Response> implements WireCall {
  readonly method: string;
  readonly traceparent: string;
  readonly credit: number;
  number = 0;
  readonly #plan: StreamPlan<Response>;
  readonly #port: StreamPort;
  readonly #arrived: Uint8Array[] = [];
  #taken = 0;
  #isOver = false;
  #failure: TenureError | undefined;
  #wake: () => void = () => {};

  constructor(plan: StreamPlan<Response>, port: StreamPort) {
    this.#plan = plan;
    this.#port = port;
    this.method = plan.method;
    this.traceparent = plan.traceparent ?? "";
    this.credit = plan.credit;
  }

  encode(): Uint8Array {
    return this.#plan.encode();
  }

  serverTimeoutMs(): undefined {
    return undefined;
  }

  onResponse(bytes: Uint8Array): void {
    this.#arrived.push(bytes);
    this.#wake();
  }

  onEnd(): void {
    this.#isOver = true;
    this.#wake();
  }

  onFailure(error: TenureError): void {
    this.#failure ??= error;
    this.onEnd();
  }

  onBroken(error: TenureError): void {
    this.onFailure(error);
  }

  /** The responses. The call is made now, and given up when the consumer leaves. */
  async *responses(): AsyncGenerator<Response, void, undefined> {
    const { signal } = this.#plan;
    const onAbort = () => signal && this.onFailure(abortedError(signal, this.method));
    if (signal?.aborted) throw abortedError(signal, this.method);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#port.add(this);
    try {
      for (;;) {
        // An abort is obeyed at once; an end or a break after what had arrived before it.
        if (signal?.aborted && this.#failure !== undefined) throw this.#failure;
        const bytes = this.#arrived.shift();
        if (bytes !== undefined) {
          this.#giveRoom();
          yield this.#decode(bytes);
        } else if (this.#failure !== undefined) throw this.#failure;
        else if (this.#isOver) return;
        else await this.#more();
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#port.drop(this);
    }
  }

  #more(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  #decode(bytes: Uint8Array): Response {
    try {
      return this.#plan.decode(bytes);
    } catch (thrown) {
      throw toTenureError(thrown);
    }
  }

  /** Told for half of the credit at a time, so that room is not a message of its own for every response. */
  #giveRoom(): void {
    this.#taken += 1;
    if (this.#isOver || this.#taken * 2 < this.credit) return;
    this.#port.grant(this, this.#taken);
    this.#taken = 0;
  }
}
