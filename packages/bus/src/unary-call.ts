import type { Msg } from "@nats-io/transport-node";
import { encodeMessage } from "@tenure/contracts";
import { type Dated, Fault, invalid, onAbort } from "@tenure/kernel";
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
import { failureLabel, type PackedPart } from "./packed-parts.ts";
import type { MethodDefinition } from "./service-definition.ts";
import { controlAllSubject } from "./subjects.ts";

/** A method as a client calls it. */
export interface MethodTarget {
  readonly service: string;
  /** `<Service>.<Method>`. */
  readonly label: string;
  readonly definition: MethodDefinition;
  subject(route: string | undefined): string;
  /** Where the service takes batches on a route. */
  batchSubject(route: string): string;
}

/** Calls a method once. Rejects with a Fault, always, and at the deadline at the latest. */
export function callUnary(
  connection: BusConnection,
  target: MethodTarget,
  request: unknown,
  options: CallOptions,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { signal } = options;
    if (signal?.aborted) throw cancelled(target.label, "NO", signal.reason);
    let ignoreSignal: (() => void) | undefined;
    const call = new UnaryCall(connection, target, options, (outcome) => {
      ignoreSignal?.();
      if (outcome instanceof Fault) reject(outcome);
      else resolve(outcome);
    });
    call.start(request);
    if (signal !== undefined) ignoreSignal = onAbort(signal, () => call.cancel(signal.reason));
  });
}

/** Told the response, or a fault, once. */
export type OnOutcome = (outcome: unknown) => void;

/** One call of a method: it ends once, with `done`. */
export class UnaryCall implements Receiver, PackedPart, Dated {
  readonly method: string;
  readonly label: string;
  readonly #connection: BusConnection;
  readonly #target: MethodTarget;
  readonly #options: CallOptions;
  readonly deadlineMs: number;
  readonly #done: OnOutcome;
  dueMs = Number.POSITIVE_INFINITY;
  place = -1;
  subject: string;
  number = 0;
  payload: Uint8Array = noBytes;
  batch: number | undefined;
  /** How long the server was told that it may take. */
  #serverDeadlineMs: number;
  isOver = false;

  constructor(connection: BusConnection, target: MethodTarget, options: CallOptions, done: OnOutcome) {
    this.method = target.label;
    this.label = target.definition.name;
    this.subject = target.subject(options.route);
    this.#connection = connection;
    this.#target = target;
    this.#options = options;
    this.deadlineMs = checkedDeadline(target.label, options.deadlineMs ?? defaultDeadlineMs);
    this.#serverDeadlineMs = this.deadlineMs;
    this.#done = done;
  }

  /** Sends it, with the turn's others on its route if it has one. Throws a Fault when it cannot be sent. */
  start(request: unknown): void {
    const { principal = anonymous, route, trace } = this.#options;
    this.#connection.assertConnected(this.method);
    this.payload = encodeMessage(this.#target.definition.requestType, request);
    const metadata = { deadlineMs: this.deadlineMs, principal };
    const headers = encodeCallHeaders(trace === undefined ? metadata : { ...metadata, trace });
    assertFits(this.#connection, this.method, this.payload.byteLength + headers.byteLength);
    const { batches, clock, deadlines, inbox } = this.#connection;
    this.number = inbox.register(this);
    this.dueMs = clock.now() + this.deadlineMs;
    deadlines.add(this);
    if (route !== undefined && trace === undefined) batches.add(this, this.#target.batchSubject(route), principal);
    else if (!this.#connection.send(this.subject, this.payload, inbox.replySubject(this.number), headers.headers)) {
      this.#settle();
      throw busDisconnected(this.method, "NO");
    }
  }

  onDue(): void {
    this.end(deadlineExceeded(this.method, this.deadlineMs));
    // The server would go on until the longest deadline of the batch.
    if (this.#serverDeadlineMs > this.deadlineMs) this.#sendCancel();
  }

  /** It went in a batch of which the server was told this deadline. */
  sentWith(subject: string, batch: number, serverDeadlineMs: number): void {
    this.subject = subject;
    this.batch = batch;
    this.#serverDeadlineMs = serverDeadlineMs;
  }

  receive({ data, headers }: Msg): void {
    const kind = headers === undefined ? "reply" : replyKind(headers);
    if (kind === "no-responder") this.end(noResponder(this.method, this.subject));
    else this.#receive(data, kind === "failure");
  }

  receivePart({ label, payload }: PackedPart): void {
    this.#receive(payload, label === failureLabel);
  }

  fail(cause: ReceiverFailure): void {
    this.end(failureOf(this.method, cause));
  }

  /** Gives it up, and tells the server. */
  cancel(reason?: unknown): void {
    if (this.isOver) return;
    this.end(cancelled(this.method, "UNKNOWN", reason));
    // What was called before must not arrive after its cancel, or after that of a call that it replaces.
    this.#connection.batches.flush();
    this.#sendCancel();
  }

  /** Ends it with a fault. */
  end(fault: Fault): void {
    if (this.isOver) return;
    this.#settle();
    this.#done(fault);
  }

  #receive(bytes: Uint8Array, isFailure: boolean): void {
    if (isFailure) {
      this.end(decodeFailure(this.method, bytes));
      return;
    }
    let response: unknown;
    try {
      response = this.#target.definition.responseType.decode(bytes);
    } catch (cause) {
      this.end(malformed(this.method, "response", cause));
      return;
    }
    this.#settle();
    this.#done(response);
  }

  #sendCancel(): void {
    const reply = this.#connection.inbox.replySubject(this.number);
    this.#connection.send(controlAllSubject(this.#target.service), encodeCancel(reply));
  }

  #settle(): void {
    this.isOver = true;
    this.#connection.inbox.unregister(this.number);
    this.#connection.deadlines.delete(this);
  }
}

const noBytes = new Uint8Array(0);

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
