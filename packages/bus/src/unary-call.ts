import type { Msg } from "@nats-io/transport-node";
import { encodeMessage } from "@tenure/contracts";
import { type Fault, invalid, type Timer } from "@tenure/kernel";
import { onAbort } from "./abort-fanout.ts";
import type { BusConnection } from "./bus-connection.ts";
import { encodeCallHeaders, replyKind } from "./call-headers.ts";
import { anonymous, type CallOptions, defaultDeadlineMs } from "./call-options.ts";
import { encodeCancel } from "./control-frame.ts";
import { decodeFailure } from "./failure.ts";
import {
  busClosed,
  busDisconnected,
  cancelled,
  deadlineExceeded,
  malformed,
  noResponder,
  payloadTooLarge,
} from "./faults.ts";
import type { Receiver, ReceiverFailure } from "./inbox.ts";
import type { MethodDefinition } from "./service-definition.ts";
import { controlAllSubject } from "./subjects.ts";

/** A method as a client calls it. */
export interface MethodTarget {
  readonly service: string;
  /** `<Service>.<Method>`. */
  readonly label: string;
  readonly definition: MethodDefinition;
  subject(route: string | undefined): string;
}

/** Calls a method once. Rejects with a Fault, always, and at the deadline at the latest. */
export function callUnary(
  connection: BusConnection,
  target: MethodTarget,
  request: unknown,
  options: CallOptions,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    new UnaryCall(connection, target, options, resolve, reject).start(request);
  });
}

class UnaryCall implements Receiver {
  readonly method: string;
  readonly subject: string;
  readonly #connection: BusConnection;
  readonly #target: MethodTarget;
  readonly #options: CallOptions;
  readonly #deadlineMs: number;
  readonly #resolve: (response: unknown) => void;
  readonly #reject: (fault: Fault) => void;
  #id = 0;
  #timer: Timer | undefined;
  #ignoreSignal: (() => void) | undefined;

  constructor(
    connection: BusConnection,
    target: MethodTarget,
    options: CallOptions,
    resolve: (response: unknown) => void,
    reject: (fault: Fault) => void,
  ) {
    this.method = target.label;
    this.subject = target.subject(options.route);
    this.#connection = connection;
    this.#target = target;
    this.#options = options;
    this.#deadlineMs = checkedDeadline(target.label, options.deadlineMs ?? defaultDeadlineMs);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(request: unknown): void {
    const { signal, principal = anonymous, trace } = this.#options;
    if (signal?.aborted) throw cancelled(this.method, "NO", signal.reason);
    this.#connection.assertConnected(this.method);
    const payload = encodeMessage(this.#target.definition.requestType, request);
    const metadata = { deadlineMs: this.#deadlineMs, principal };
    const { headers, byteLength } = encodeCallHeaders(trace === undefined ? metadata : { ...metadata, trace });
    assertFits(this.#connection, this.method, payload.byteLength + byteLength);
    const { inbox, clock } = this.#connection;
    this.#id = inbox.register(this);
    this.#timer = clock.schedule(this.#deadlineMs, () => this.#onDeadline());
    if (signal !== undefined) this.#ignoreSignal = onAbort(signal, () => this.#onAbort(signal));
    if (!this.#connection.send(this.subject, payload, inbox.replySubject(this.#id), headers)) {
      this.#settle();
      throw busDisconnected(this.method, "NO");
    }
  }

  receive(message: Msg): void {
    this.#settle();
    const { headers } = message;
    const kind = headers === undefined ? "reply" : replyKind(headers);
    if (kind === "no-responder") {
      this.#reject(noResponder(this.method, this.subject));
      return;
    }
    if (kind === "failure") {
      this.#reject(decodeFailure(this.method, message.data));
      return;
    }
    let response: unknown;
    try {
      response = this.#target.definition.responseType.decode(message.data);
    } catch (cause) {
      this.#reject(malformed(this.method, "response", cause));
      return;
    }
    this.#resolve(response);
  }

  fail(cause: ReceiverFailure): void {
    this.#settle();
    this.#reject(failureOf(this.method, cause));
  }

  #onDeadline(): void {
    this.#settle();
    this.#reject(deadlineExceeded(this.method, this.#deadlineMs));
  }

  #onAbort(signal: AbortSignal): void {
    const { inbox } = this.#connection;
    this.#settle();
    this.#reject(cancelled(this.method, "UNKNOWN", signal.reason));
    this.#connection.send(controlAllSubject(this.#target.service), encodeCancel(inbox.replySubject(this.#id)));
  }

  #settle(): void {
    this.#connection.inbox.unregister(this.#id);
    this.#timer?.cancel();
    this.#ignoreSignal?.();
  }
}

/** What the end of the connection means for a call that had been sent. */
export function failureOf(method: string, cause: ReceiverFailure): Fault {
  if (cause === "disconnected") return busDisconnected(method, "UNKNOWN");
  if (cause === "closed") return busClosed(method, "UNKNOWN");
  return cause;
}

/** Refuses a request that the server would not take, before it is sent. */
export function assertFits(connection: BusConnection, method: string, sizeBytes: number): void {
  const limitBytes = connection.maxPayloadBytes;
  if (sizeBytes > limitBytes) throw payloadTooLarge(`the request of ${method}`, sizeBytes, limitBytes, "NO");
}

/** A deadline that has passed already fails the call before it is sent; one without end is a mistake. */
export function checkedDeadline(method: string, deadlineMs: number): number {
  if (!Number.isFinite(deadlineMs)) {
    throw invalid([
      { field: "deadlineMs", rule: "must be a finite number of milliseconds", value: String(deadlineMs) },
    ]);
  }
  if (deadlineMs <= 0) throw deadlineExceeded(method, deadlineMs, "NO");
  return deadlineMs;
}
