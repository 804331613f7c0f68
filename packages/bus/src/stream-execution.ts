import { type Fault, onAbort } from "@tenure/kernel";
import type { CallMetadata } from "./call-headers.ts";
import { defaultBeatMs, defaultWindow } from "./call-options.ts";
import type { Execution, ExecutionHost, ServedMethod } from "./execution.ts";
import { busDisconnected, cancelled } from "./faults.ts";
import { OutgoingStream, type OutgoingStreamPort } from "./outgoing-stream.ts";
import type { RunningCall } from "./running-call.ts";

/** A streaming handler at work. Its end, whatever the cause, reaches the handler by its signal and the caller by a message. */
export class StreamExecution implements Execution, OutgoingStreamPort {
  readonly host: ExecutionHost;
  readonly isStream = true;
  readonly #method: ServedMethod;
  readonly #call: RunningCall;
  readonly #reply: string;
  readonly #stream: OutgoingStream;
  #isCallerGone = false;

  constructor(host: ExecutionHost, method: ServedMethod, call: RunningCall, reply: string, metadata: CallMetadata) {
    this.host = host;
    this.#method = method;
    this.#call = call;
    this.#reply = reply;
    const { connection } = host;
    const { window = defaultWindow, beatMs = defaultBeatMs } = metadata;
    const { responseType } = method.definition;
    const encode = (item: unknown): Uint8Array => responseType.encode(item).finish();
    const { instance, clock } = connection;
    this.#stream = new OutgoingStream({ method: call.method, instance, window, beatMs, clock, encode }, this);
  }

  start(request: unknown): void {
    onAbort(this.#call.signal, () => this.#onAborted());
    let items: AsyncIterable<unknown>;
    try {
      items = this.#method.handler(request, this.#call) as AsyncIterable<unknown>;
    } catch (thrown) {
      this.fail(thrown);
      this.#finish();
      return;
    }
    void this.#stream.run(items).then(() => this.#finish());
  }

  onCancel(): void {
    this.#isCallerGone = true;
    this.#call.abort(cancelled(this.#call.method, "UNKNOWN"));
  }

  onGrant(total: number): void {
    this.#stream.grant(total);
  }

  end(fault: Fault): void {
    this.#call.abort(fault);
  }

  onDisconnect(): void {
    this.#call.abort(busDisconnected(this.#call.method, "UNKNOWN"));
  }

  send(frame: Uint8Array): boolean {
    return this.host.connection.send(this.#reply, frame);
  }

  limitBytes(): number {
    return this.host.connection.maxPayloadBytes;
  }

  fail(thrown: unknown): void {
    const { method } = this.#call;
    const fault = this.host.answers.faultOf(thrown, method);
    if (fault !== thrown) this.host.reportHandlerError(thrown, method);
    this.host.answers.fail(method, this.#reply, fault);
    this.abandon(fault);
  }

  abandon(fault: Fault): void {
    this.#isCallerGone = true;
    this.#call.abort(fault);
  }

  #onAborted(): void {
    this.#stream.stop();
    const fault = this.#call.abortedWith;
    if (fault !== undefined && !this.#isCallerGone) this.host.answers.fail(this.#call.method, this.#reply, fault);
  }

  #finish(): void {
    this.#call.finish();
    this.host.finished(this.#reply, this);
  }
}
