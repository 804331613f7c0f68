import type { Fault, Later } from "@tenure/kernel";
import type { BusMethod, RequestOf, ResponseOf, ServiceDefinition } from "./service-definition.ts";
import type { TraceContext } from "./trace-context.ts";

/** What a caller may say about one call. */
export interface CallOptions {
  /** Aborting it rejects the call at once with CANCELLED and aborts the handler's signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the caller waits, in milliseconds; {@link defaultDeadlineMs} when absent for a unary call, no limit when
   * absent for a stream. It travels as a duration and is measured by each side on its own clock.
   */
  readonly deadlineMs?: number | undefined;
  /** On whose behalf the call is made; `anonymous` when absent. */
  readonly principal?: string | undefined;
  /** The trace that the call belongs to; a malformed one is dropped. */
  readonly trace?: TraceContext | undefined;
  /** The last tokens of the subject, for services that are served in parts: `<partition>.<epoch>`. */
  readonly route?: string | undefined;
}

/** What a caller may say about one stream. */
export interface StreamCallOptions extends CallOptions {
  /** How many items the server may send ahead of the consumer; bounds the memory of both sides. */
  readonly window?: number | undefined;
  /** How often both sides show that they live, in milliseconds; three misses end the stream. */
  readonly beatMs?: number | undefined;
}

/** What a client applies to each of its calls that does not say otherwise. */
export interface ClientOptions extends Omit<StreamCallOptions, "signal" | "trace"> {}

/** The deadline of a unary call that names none: a call is never unbounded. */
export const defaultDeadlineMs = 5_000;

/** The principal of a call that names none. */
export const anonymous = "anonymous";

/** The default window: a round trip of half a millisecond moves over 500,000 items a second with it. */
export const defaultWindow = 256;

/** The default heartbeat of streams. */
export const defaultBeatMs = 1_000;

/** A service as its callers see it: a function per method that the bus carries. */
export type Client<Definition extends ServiceDefinition> = {
  readonly [Key in BusMethod<Definition>]: ClientMethod<Definition["methods"][Key]>;
};

/** A unary method gives a promise; a streaming one an iterable that makes the call when it is iterated. */
export type ClientMethod<Method extends ServiceDefinition["methods"][string]> = Method["responseStream"] extends true
  ? (request: RequestOf<Method>, options?: StreamCallOptions) => AsyncIterable<ResponseOf<Method>>
  : (request: RequestOf<Method>, options?: CallOptions) => Promise<ResponseOf<Method>>;

/** What a handler knows about the call that it serves. */
export interface CallContext {
  /** Aborted with a Fault when the caller cancels, the deadline passes, or the server stops. */
  readonly signal: AbortSignal;
  /**
   * Has one listener told of the same, at once if it has come to that; undefined for none. For handlers that wait in
   * very great numbers: a signal costs as much as a decision.
   */
  onAbort(listener: ((why: Fault) => void) | undefined): void;
  /** Milliseconds until the deadline on this process's clock, never negative; Infinity for a stream without one. */
  remainingMs(): number;
  readonly principal: string;
  readonly trace: TraceContext | undefined;
  /** `<Service>.<Method>`, for logs and metrics. */
  readonly method: string;
}

/** A service as it is implemented: the same functions, with the context of the call. */
export type Handlers<Definition extends ServiceDefinition> = {
  readonly [Key in BusMethod<Definition>]: HandlerMethod<Definition["methods"][Key]>;
};

/**
 * A streaming handler is pulled only while the caller has granted credit. A unary one that answers very many calls
 * gives a `Later` instead of a promise.
 */
export type HandlerMethod<Method extends ServiceDefinition["methods"][string]> = Method["responseStream"] extends true
  ? (request: RequestOf<Method>, context: CallContext) => AsyncIterable<ResponseOf<Method>>
  : (
      request: RequestOf<Method>,
      context: CallContext,
    ) => Promise<ResponseOf<Method>> | Later<ResponseOf<Method>> | ResponseOf<Method>;

/** How a service is served. */
export interface ServeOptions {
  /**
   * The queue group: one of its members gets each call. The service's name when absent; none when `false`, and none by
   * default when there is a route, because a routed subject names one instance.
   */
  readonly queue?: string | false | undefined;
  /** The last tokens of the subjects, for example `<partition>.<epoch>`. */
  readonly route?: string | undefined;
  /** How many handlers may run at once; further calls are refused with RESOURCE_EXHAUSTED. */
  readonly maxRunning?: number | undefined;
  /** How long a stop waits for running unary calls before it aborts them, in milliseconds. */
  readonly stopGraceMs?: number | undefined;
  /** Told of what a handler threw that is not a Fault: the caller gets only INTERNAL. */
  readonly onHandlerError?: ((error: unknown, call: { readonly method: string }) => void) | undefined;
}

/** A running server: disposing it stops taking calls and waits, bounded, for those that run. */
export interface BusServer extends AsyncDisposable {
  /** How many handlers run now. */
  readonly running: number;
  /** Idempotent; resolves when nothing runs or the bound has passed. */
  stop(): Promise<void>;
}
