import { encodeMessage } from "@tenure/contracts";
import { type Fault, Later, type LaterListener } from "@tenure/kernel";
import type { CallMetadata } from "./call-headers.ts";
import type { Execution, ExecutionHost, ServedMethod } from "./execution.ts";
import { cancelled } from "./faults.ts";
import type { Reply } from "./reply.ts";
import { RunningCall } from "./running-call.ts";

/** A unary handler at work, and what it knows of its call: it is answered once, unless its caller has cancelled. */
export class UnaryExecution extends RunningCall implements Execution, LaterListener<unknown> {
  readonly host: ExecutionHost;
  readonly isStream = false;
  readonly #method: ServedMethod;
  readonly #reply: Reply;
  #isAnswered = false;

  constructor(host: ExecutionHost, method: ServedMethod, metadata: CallMetadata, deadlineMs: number, reply: Reply) {
    super(method.label, metadata, deadlineMs, host.connection);
    this.host = host;
    this.#method = method;
    this.#reply = reply;
  }

  start(request: unknown): void {
    let result: unknown;
    try {
      result = this.#method.handler(request, this);
    } catch (thrown) {
      this.onFailure(thrown);
      return;
    }
    if (result instanceof Later) result.tell(this);
    else
      Promise.resolve(result).then(
        (response) => this.onValue(response),
        (thrown) => this.onFailure(thrown),
      );
  }

  onCancel(): void {
    this.#isAnswered = true;
    this.abort(cancelled(this.method, "UNKNOWN"));
  }

  onGrant(): void {
    // A unary call has no credit.
  }

  end(fault: Fault): void {
    this.abort(fault);
    this.#answer(fault);
  }

  onDisconnect(): void {
    // The handler goes on: its answer is sent if the connection is back by then.
  }

  /** The handler's response. Whoever tells it goes on whatever becomes of it here. */
  onValue(response: unknown): void {
    let payload: Uint8Array;
    try {
      payload = encodeMessage(this.#method.definition.responseType, response);
    } catch (thrown) {
      this.onFailure(thrown);
      return;
    }
    this.#finish();
    this.#answer(payload);
  }

  /** What the handler threw. */
  onFailure(thrown: unknown): void {
    this.#finish();
    const { abortedWith, method } = this;
    const fault = this.host.answers.faultOf(thrown, method);
    // What a handler throws because it was aborted is no mistake of its own.
    if (fault !== thrown && abortedWith === undefined) this.host.reportHandlerError(thrown, method);
    this.#answer(fault !== thrown && abortedWith !== undefined ? abortedWith : fault);
  }

  #answer(answer: Uint8Array | Fault): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const { answers, connection } = this.host;
    try {
      if (answer instanceof Uint8Array) answers.respond(this.method, this.#reply, answer);
      else answers.fail(this.method, this.#reply, answer);
    } catch (thrown) {
      connection.report(thrown);
    }
  }

  #finish(): void {
    this.finish();
    this.host.finished(this.#reply, this);
  }
}
