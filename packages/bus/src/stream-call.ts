import type { Msg } from "@nats-io/transport-node";
import { type Fault, invalid, onAbort, type Timer } from "@tenure/kernel";
import type { BusConnection } from "./bus-connection.ts";
import { type CallMetadata, encodeCallHeaders, replyKind } from "./call-headers.ts";
import { anonymous, defaultBeatMs, defaultWindow, type StreamCallOptions } from "./call-options.ts";
import { encodeCancel, encodeGrant } from "./control-frame.ts";
import { decodeFailure } from "./failure.ts";
import { busDisconnected, cancelled, deadlineExceeded, noResponder } from "./faults.ts";
import type { Receiver, ReceiverFailure } from "./inbox.ts";
import { IncomingStream, type IncomingStreamPort } from "./incoming-stream.ts";
import { controlAllSubject, controlSubject } from "./subjects.ts";
import { assertFits, checkedDeadline, failureOf, type MethodTarget } from "./unary-call.ts";

/** The largest window that a server grants itself by a header: beyond it memory would not be bounded usefully. */
export const largestWindow = 65_536;

/** The fastest and slowest heartbeat of a stream, in milliseconds. */
export const beatLimitsMs = { fastest: 10, slowest: 60_000 } as const;

/**
 * A server stream that is called when it is iterated, anew each time. The iterator ends when the server ends it, and
 * throws a Fault when it fails; leaving the loop cancels the call.
 */
export function callStream(
  connection: BusConnection,
  target: MethodTarget,
  request: unknown,
  options: StreamCallOptions,
): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]() {
      return openStream(connection, target, request, options);
    },
  };
}

function openStream(
  connection: BusConnection,
  target: MethodTarget,
  request: unknown,
  options: StreamCallOptions,
): AsyncIterator<unknown> {
  try {
    return new StreamCall(connection, target, options, request).items;
  } catch (fault) {
    // A call that cannot start fails like one that does: when its first item is asked for.
    return { next: () => Promise.reject(fault) };
  }
}

class StreamCall implements Receiver, IncomingStreamPort {
  readonly method: string;
  readonly subject: string;
  readonly items: IncomingStream<unknown>;
  readonly #connection: BusConnection;
  readonly #target: MethodTarget;
  readonly #id: number;
  readonly #reply: string;
  #timer: Timer | undefined;
  #ignoreSignal: (() => void) | undefined;

  constructor(connection: BusConnection, target: MethodTarget, options: StreamCallOptions, request: unknown) {
    const { signal, deadlineMs } = options;
    this.method = target.label;
    this.subject = target.subject(options.route);
    this.#connection = connection;
    this.#target = target;
    const metadata = streamMetadata(this.method, options);
    if (signal?.aborted) throw cancelled(this.method, "NO", signal.reason);
    connection.assertConnected(this.method);
    const payload = target.definition.requestType.encode(request).finish();
    const { headers, byteLength } = encodeCallHeaders(metadata);
    assertFits(connection, this.method, payload.byteLength + byteLength);
    this.#id = connection.inbox.register(this);
    this.#reply = connection.inbox.replySubject(this.#id);
    this.items = this.#incoming(metadata);
    if (deadlineMs !== undefined) this.#armDeadline(deadlineMs);
    if (signal !== undefined) this.#ignoreSignal = onAbort(signal, () => this.#onAbort(signal));
    if (!connection.send(this.subject, payload, this.#reply, headers))
      this.items.fail(busDisconnected(this.method, "NO"));
  }

  receive(message: Msg): void {
    const kind = message.headers === undefined ? "reply" : replyKind(message.headers);
    if (kind === "no-responder") this.items.fail(noResponder(this.method, this.subject));
    else if (kind === "failure") this.items.fail(decodeFailure(this.method, message.data));
    else this.items.receive(message.data);
  }

  fail(cause: ReceiverFailure): void {
    this.items.fail(failureOf(this.method, cause));
  }

  grant(instance: string, total: number): void {
    this.#control(instance, encodeGrant(this.#reply, total));
  }

  cancel(instance: string | undefined): void {
    this.#control(instance, encodeCancel(this.#reply));
  }

  finished(): void {
    this.#connection.inbox.unregister(this.#id);
    this.#timer?.cancel();
    this.#ignoreSignal?.();
  }

  #control(instance: string | undefined, frame: Uint8Array): void {
    const { service } = this.#target;
    this.#connection.send(
      instance === undefined ? controlAllSubject(service) : controlSubject(service, instance),
      frame,
    );
  }

  #incoming({ window = defaultWindow, beatMs = defaultBeatMs }: CallMetadata): IncomingStream<unknown> {
    const { responseType } = this.#target.definition;
    const decode = (bytes: Uint8Array): unknown => responseType.decode(bytes);
    return new IncomingStream({ method: this.method, window, beatMs, clock: this.#connection.clock, decode }, this);
  }

  #armDeadline(deadlineMs: number): void {
    const onDeadline = (): Fault => deadlineExceeded(this.method, deadlineMs);
    this.#timer = this.#connection.clock.schedule(deadlineMs, () => this.items.cancel(onDeadline()));
  }

  #onAbort(signal: AbortSignal): void {
    this.items.cancel(cancelled(this.method, "UNKNOWN", signal.reason));
  }
}

function streamMetadata(method: string, options: StreamCallOptions): CallMetadata {
  const { deadlineMs, trace, principal = anonymous, window = defaultWindow, beatMs = defaultBeatMs } = options;
  if (!Number.isInteger(window) || window < 1 || window > largestWindow) {
    throw invalid([
      { field: "window", rule: `must be a whole number from 1 to ${largestWindow}`, value: String(window) },
    ]);
  }
  const { fastest, slowest } = beatLimitsMs;
  if (!(beatMs >= fastest && beatMs <= slowest)) {
    throw invalid([{ field: "beatMs", rule: `must be from ${fastest} to ${slowest}`, value: String(beatMs) }]);
  }
  return {
    principal,
    window,
    beatMs,
    ...(deadlineMs === undefined ? {} : { deadlineMs: checkedDeadline(method, deadlineMs) }),
    ...(trace === undefined ? {} : { trace }),
  };
}
