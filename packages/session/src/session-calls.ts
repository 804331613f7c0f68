import { traceContextOf } from "@tenure/bus";
import { durationToMs, failureFromFault, type SessionCall } from "@tenure/contracts";
import { Fault, NumberedItems, toFault } from "@tenure/kernel";
import { type CreditedStream, pumpStream } from "./credited-stream.ts";
import type { OpenCall, Outcome, StoreCallOptions } from "./open-call.ts";
import type { Outbox } from "./outbox.ts";
import type { RateLimit } from "./rate-limit.ts";
import { withFloor } from "./read-floor.ts";
import { type CallPort, methodUnknown } from "./service-calls.ts";
import { limitExceeded, type SessionLimits, tooFast } from "./session-limits.ts";
import { callTimeoutMs } from "./timeouts.ts";

/** What the calls of one session stand on. */
export interface SessionCallsOptions {
  readonly services: CallPort;
  readonly outbox: Outbox;
  readonly limits: SessionLimits;
  readonly rate: RateLimit;
  readonly principal: string;
  /** Told when a call begins that waits, when it is over, and when a call has ended well. */
  readonly onWait: (call: OpenCall) => void;
  readonly onWaitOver: (call: OpenCall) => void;
  readonly onAnswered: (method: string, request: Uint8Array, response: Uint8Array) => void;
  /** What plain reads must not be behind: the highest revision that the client has seen. */
  readonly minRevision: () => bigint;
}

/** The calls of one session: begun, answered, cancelled, and refused beyond the limits. */
export class SessionCalls {
  readonly #options: SessionCallsOptions;
  readonly #unary = new NumberedItems<OpenCall>();
  readonly #streams = new Map<bigint, CreditedStream>();
  /** New calls are refused: the server stops. */
  isClosing = false;

  constructor(options: SessionCallsOptions) {
    this.#options = options;
  }

  /** How many are open. */
  get open(): number {
    return this.#unary.size + this.#streams.size;
  }

  /** Begins a call; whatever is wrong with it is its reply. */
  begin(call: SessionCall): void {
    const { services } = this.#options;
    try {
      const kind = services.kindOf(call.method);
      if (kind === undefined) throw methodUnknown(call.method);
      this.#admit(kind);
      if (kind === "stream") this.#beginStream(call);
      else this.#beginUnary(call);
    } catch (thrown) {
      this.#fail(call.number, toFault(thrown));
    }
  }

  /** Gives calls up: nothing more is said of them. */
  cancel(number: bigint): void {
    const unary = this.#unary.delete(Number(number));
    if (unary !== undefined) {
      this.#options.onWaitOver(unary);
      unary.cancel();
    }
    this.#streams.get(number)?.cancel();
    this.#streams.delete(number);
  }

  /** Room for more responses of a stream. */
  credit(number: bigint, responses: number): void {
    this.#streams.get(number)?.grant(responses);
  }

  /** The session is over: everything is given up. */
  close(): void {
    for (const [number] of this.#unary.entries()) this.cancel(BigInt(number));
    for (const number of [...this.#streams.keys()]) this.cancel(number);
  }

  #admit(kind: "unary" | "stream"): void {
    const { limits, rate } = this.#options;
    if (this.isClosing) throw stopping();
    if (this.open >= limits.openCalls) {
      throw limitExceeded("open-calls-per-session", limits.openCalls, `${this.open} calls of the session are open`);
    }
    if (kind === "stream" && this.#streams.size >= limits.streams) {
      throw limitExceeded(
        "streams-per-session",
        limits.streams,
        `${this.#streams.size} streams of the session are open`,
      );
    }
    if (!rate.take()) throw tooFast(limits.callsPerSecond, rate);
  }

  #beginUnary({ method, number, request, timeout, traceparent }: SessionCall): void {
    const { minRevision, onAnswered, onWait, onWaitOver, outbox, principal, services } = this.#options;
    const askedMs = timeout === undefined ? undefined : durationToMs(timeout);
    const options: StoreCallOptions = {
      principal,
      deadlineMs: callTimeoutMs(method, request, askedMs),
      trace: traceparent === "" ? undefined : traceContextOf(traceparent, undefined),
    };
    const call = services.start(method, withFloor(method, request, minRevision()), options, (outcome) => {
      // A call that was given up is not spoken of any more.
      if (this.#unary.delete(Number(number)) === undefined) return;
      if (call.wait !== undefined) onWaitOver(call);
      if (outcome instanceof Fault) this.#fail(number, outcome);
      else {
        outbox.reply(number, { $case: "response", value: outcome }, true);
        onAnswered(method, request, outcome);
      }
    });
    this.#unary.set(Number(number), call);
    if (call.wait !== undefined) onWait(call);
  }

  #beginStream({ credit, method, number, request, timeout, traceparent }: SessionCall): void {
    const { outbox, principal, services } = this.#options;
    const end = (outcome: Outcome | undefined) => {
      this.#streams.delete(number);
      if (outcome instanceof Fault) this.#fail(number, outcome);
      else outbox.reply(number, undefined, true);
    };
    const open = (signal: AbortSignal) =>
      services.stream(method, request, {
        signal,
        principal,
        deadlineMs: timeout === undefined ? undefined : durationToMs(timeout),
        trace: traceparent === "" ? undefined : traceContextOf(traceparent, undefined),
      });
    const item = (value: Uint8Array) => outbox.reply(number, { $case: "response", value }, false);
    this.#streams.set(number, pumpStream(open, credit, item, end));
  }

  #fail(number: bigint, fault: Fault): void {
    this.#options.outbox.reply(number, { $case: "failure", value: failureFromFault(fault) }, true);
  }
}

function stopping(): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "SERVER_STOPPING",
    message: "the server of this session is stopping: open another session",
    details: { applied: "NO" },
  });
}
