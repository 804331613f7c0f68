import { anonymous, type Bus, type StreamCallOptions } from "@tenure/bus";
import { publicServices } from "@tenure/contracts";
import { type Clock, Fault, formatDuration, toFault } from "@tenure/kernel";
import type { Admission } from "./admission.ts";
import { type ByteCaller, byteCallers } from "./byte-service.ts";
import { withCancel } from "./cancel.ts";
import type { OpenCall, Outcome, StoreCallOptions } from "./open-call.ts";
import type { StoreCalls } from "./store-calls.ts";
import { storeMethods } from "./store-methods.ts";

/** Who answers reads and watches from a copy of the log, if anyone does here. `undefined`: not answerable there. */
export interface LocalReads {
  unary(method: string, request: Uint8Array, scope: { readonly signal: AbortSignal }): Promise<Uint8Array> | undefined;
  stream(method: string, request: Uint8Array, signal: AbortSignal): AsyncIterable<Uint8Array> | undefined;
}

/** What calls of any service stand on. */
export interface ServiceCallsOptions {
  readonly bus: Bus;
  readonly store: StoreCalls;
  readonly clock: Clock;
  readonly reads?: LocalReads | undefined;
  /** Whether a running instance has ever announced that it serves this service, by full name. */
  wasServed(fullName: string): boolean;
  /** Which calls may be made; absent: all. */
  readonly admission?: Pick<Admission, "admit"> | undefined;
}

/** How the services are called, as sessions see it. */
export type CallPort = Pick<ServiceCalls, "kindOf" | "start" | "stream">;

/** How a stream that is served here is bounded. */
type LocalStreamOptions = Pick<StreamCallOptions, "deadlineMs"> & { readonly signal: AbortSignal };

interface Served {
  readonly fullName: string;
  readonly caller: ByteCaller;
}

/**
 * Every unary and server-streaming method of the public API as encoded messages: reads from the copy of the log where
 * there is one, calls of the store at the owner of their key, everything else at the service that serves it.
 */
export class ServiceCalls {
  readonly #options: ServiceCallsOptions;
  readonly #served = new Map<string, Served>();

  constructor(options: ServiceCallsOptions) {
    this.#options = options;
    for (const definition of Object.values(publicServices)) {
      for (const [name, caller] of byteCallers(options.bus, definition)) {
        this.#served.set(`${definition.name}.${name}`, { fullName: definition.fullName, caller });
      }
    }
  }

  /** Whether the method, as `<Service>.<Method>`, has one answer or many; undefined when there is no such method. */
  kindOf(method: string): "unary" | "stream" | undefined {
    const served = this.#served.get(method);
    if (served === undefined) return undefined;
    return served.caller.definition.responseStream ? "stream" : "unary";
  }

  /**
   * Calls a unary method and tells the outcome once, never before it returns. Throws a Fault for a bad request, and for
   * one that its principal may not make.
   */
  start(method: string, request: Uint8Array, options: StoreCallOptions, done: (outcome: Outcome) => void): OpenCall {
    const { admission, store } = this.#options;
    admission?.admit(options.principal, method, request);
    const isRead = storeMethods.get(method)?.isChange === false;
    const local = isRead ? startLocal(this.#options, method, request, options, done) : undefined;
    if (local !== undefined) return local;
    if (store.serves(method)) {
      const explain = (outcome: Outcome) => done(outcome instanceof Fault ? this.#explain(outcome, method) : outcome);
      return store.start(method, request, options, explain);
    }
    const unary = this.#served.get(method)?.caller.unary;
    if (unary === undefined) throw methodUnknown(method);
    return withCancel((signal, settle) => {
      unary(request, { ...options, signal }).then(settle, (thrown) => settle(this.#explain(thrown, method)));
    }, done);
  }

  /** Calls a streaming method; throws a Fault if its principal may not, and the iterable throws what fails later. */
  stream(method: string, request: Uint8Array, options: StreamCallOptions & { readonly signal: AbortSignal }) {
    this.#options.admission?.admit(options.principal ?? anonymous, method, request);
    const local = this.#streamLocal(method, request, options);
    if (local !== undefined) return local;
    const stream = this.#served.get(method)?.caller.stream;
    if (stream === undefined) throw methodUnknown(method);
    return this.#explained(stream(request, options), method);
  }

  #streamLocal(
    method: string,
    request: Uint8Array,
    options: LocalStreamOptions,
  ): AsyncIterable<Uint8Array> | undefined {
    const { clock, reads } = this.#options;
    const { deadlineMs, signal } = options;
    if (deadlineMs === undefined) return reads?.stream(method, request, signal);
    const ending = new AbortController();
    const items = reads?.stream(method, request, AbortSignal.any([signal, ending.signal]));
    if (items === undefined) return undefined;
    return untilDeadline(items, clock, deadlineMs, () => ending.abort(deadlineExceeded(method, deadlineMs)));
  }

  async *#explained(items: AsyncIterable<Uint8Array>, method: string): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* items;
    } catch (thrown) {
      throw this.#explain(thrown, method);
    }
  }

  /**
   * Nobody listening means two things to a caller: a service that this deployment does not have is UNIMPLEMENTED and
   * not worth a retry; one that has been here and is away is UNAVAILABLE. A change that may have been applied was at a
   * service.
   */
  #explain(thrown: unknown, method: string): Fault {
    const fault = toFault(thrown);
    const fullName = this.#served.get(method)?.fullName ?? method;
    if (fault.reason !== "NO_RESPONDER" || fault.details.applied === "UNKNOWN") return fault;
    return this.#options.wasServed(fullName) ? fault : notServed(fullName, fault);
  }
}

/** Ends a stream at its deadline, counted from when it is read. */
async function* untilDeadline(
  items: AsyncIterable<Uint8Array>,
  clock: Clock,
  deadlineMs: number,
  end: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const timer = clock.schedule(deadlineMs, end);
  try {
    yield* items;
  } finally {
    timer.cancel();
  }
}

/** Reads here if that is possible, and gives up at the deadline. */
function startLocal(
  { clock, reads }: ServiceCallsOptions,
  method: string,
  request: Uint8Array,
  { deadlineMs }: StoreCallOptions,
  done: (outcome: Outcome) => void,
): OpenCall | undefined {
  if (reads === undefined) return undefined;
  const abort = new AbortController();
  const answer = reads.unary(method, request, { signal: abort.signal });
  if (answer === undefined) return undefined;
  const settle = (outcome: Outcome) => {
    timer.cancel();
    if (!abort.signal.aborted) done(outcome);
  };
  const timer = clock.schedule(deadlineMs, () => {
    done(deadlineExceeded(method, deadlineMs));
    abort.abort();
  });
  answer.then(settle, (thrown: unknown) => settle(toFault(thrown)));
  return {
    cancel() {
      timer.cancel();
      abort.abort();
    },
  };
}

function deadlineExceeded(method: string, deadlineMs: number): Fault {
  return new Fault({
    code: "DEADLINE_EXCEEDED",
    reason: "DEADLINE_EXCEEDED",
    message: `${method} did not finish within its deadline of ${formatDuration(Math.round(deadlineMs))}`,
    details: { applied: "NO" },
  });
}

/** The fault of a service that no instance of this deployment serves. */
export function notServed(name: string, cause?: unknown): Fault {
  return new Fault({
    code: "UNIMPLEMENTED",
    reason: "NOT_SERVED",
    message: `no service of this deployment serves ${name}`,
    details: { applied: "NO" },
    cause,
  });
}

/** The fault of a method that the API does not have, or that cannot be called in this way. */
export function methodUnknown(method: string): Fault {
  return new Fault({
    code: "UNIMPLEMENTED",
    reason: "METHOD_UNKNOWN",
    message: `${JSON.stringify(method.slice(0, 140))} is no unary or server-streaming method of tenure.v1: spell it <Service>.<Method>`,
    details: { applied: "NO" },
  });
}
