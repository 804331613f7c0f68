import { encodeMessage } from "@tenure/contracts";
import type { Fault } from "@tenure/kernel";
import type { Execution, ExecutionHost, ServedMethod } from "./execution.ts";
import { cancelled } from "./faults.ts";
import type { RunningCall } from "./running-call.ts";

/** A unary handler at work: it is answered once, unless its caller has cancelled. */
export class UnaryExecution implements Execution {
  readonly host: ExecutionHost;
  readonly isStream = false;
  readonly #method: ServedMethod;
  readonly #call: RunningCall;
  readonly #reply: string;
  readonly #isPacked: boolean;
  #isAnswered = false;

  /** `isPacked`: the caller takes its answer in one message with others. */
  constructor(host: ExecutionHost, method: ServedMethod, call: RunningCall, reply: string, isPacked: boolean) {
    this.host = host;
    this.#method = method;
    this.#call = call;
    this.#reply = reply;
    this.#isPacked = isPacked;
  }

  start(request: unknown): void {
    let result: unknown;
    try {
      result = this.#method.handler(request, this.#call);
    } catch (thrown) {
      this.#onThrown(thrown);
      return;
    }
    Promise.resolve(result).then(
      (response) => this.#onResponse(response),
      (thrown) => this.#onThrown(thrown),
    );
  }

  onCancel(): void {
    this.#isAnswered = true;
    this.#call.abort(cancelled(this.#call.method, "UNKNOWN"));
  }

  onGrant(): void {
    // A unary call has no credit.
  }

  abort(fault: Fault): void {
    this.#call.abort(fault);
    this.#fail(fault);
  }

  onDisconnect(): void {
    // The handler goes on: its answer is sent if the connection is back by then.
  }

  #onResponse(response: unknown): void {
    let payload: Uint8Array;
    try {
      payload = encodeMessage(this.#method.definition.responseType, response);
    } catch (thrown) {
      this.#onThrown(thrown);
      return;
    }
    this.#finish();
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.host.answers.respond(this.#call.method, this.#reply, payload, this.#isPacked);
  }

  #onThrown(thrown: unknown): void {
    this.#finish();
    const { abortedWith, method } = this.#call;
    const fault = this.host.answers.faultOf(thrown, method);
    // What a handler throws because it was aborted is no mistake of its own.
    if (fault !== thrown && abortedWith === undefined) this.host.reportHandlerError(thrown, method);
    this.#fail(fault !== thrown && abortedWith !== undefined ? abortedWith : fault);
  }

  #fail(fault: Fault): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.host.answers.fail(this.#call.method, this.#reply, fault, this.#isPacked);
  }

  #finish(): void {
    this.#call.finish();
    this.host.finished(this.#reply);
  }
}
