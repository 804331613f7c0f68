import { type Fault, toFault } from "@tenure/kernel";
import type { Bus } from "./bus.ts";
import { type BusConnection, connectionOf } from "./bus-connection.ts";
import type { CallOptions, Client, ClientOptions, StreamCallOptions } from "./call-options.ts";
import type { MessageCodec, MethodDefinition, ServiceDefinition } from "./service-definition.ts";
import { callStream } from "./stream-call.ts";
import { batchSubject, callSubject } from "./subjects.ts";
import { callUnary, type MethodTarget, type OnOutcome, UnaryCall } from "./unary-call.ts";

/**
 * A client of one service: a function per method. It holds nothing that must be closed, lives as long as the bus, and
 * works again by itself after a reconnect.
 */
export function createClient<Definition extends ServiceDefinition>(
  bus: Bus,
  definition: Definition,
  options: ClientOptions = {},
): Client<Definition> {
  const connection = connectionOf(bus);
  const client: Record<string, unknown> = {};
  for (const [key, method] of Object.entries(definition.methods)) {
    if (method.requestStream) continue;
    client[key] = callerOf(connection, methodTarget(definition.name, method), options);
  }
  // The keys and functions above are exactly those of Client<Definition>, which the compiler cannot follow.
  return Object.freeze(client) as Client<Definition>;
}

function callerOf(connection: BusConnection, target: MethodTarget, defaults: ClientOptions) {
  if (!target.definition.responseStream) {
    return (request: unknown, options?: CallOptions) =>
      callUnary(connection, target, request, merge(defaults, options));
  }
  // The default deadline is one of unary calls: a stream ends only by a deadline of its own.
  const streamDefaults = { ...defaults, deadlineMs: undefined };
  return (request: unknown, options?: StreamCallOptions) =>
    callStream(connection, target, request, merge(streamDefaults, options));
}

/** Begins a call and tells its outcome once, never before it returns. What it returns gives the call up: `done` is told so. */
export type StartCall<Request, Response> = (
  request: Request,
  options: Omit<CallOptions, "signal">,
  done: (outcome: Response | Fault) => void,
) => { cancel(): void };

/** Calls of one unary method without a promise and a signal for each: for whoever makes very many. */
export function createStart<Request, Response>(
  bus: Bus,
  service: string,
  definition: MethodDefinition & {
    readonly requestType: MessageCodec<Request>;
    readonly responseType: MessageCodec<Response>;
  },
): StartCall<Request, Response> {
  const connection = connectionOf(bus);
  const target = methodTarget(service, definition);
  return (request, options, done) => {
    try {
      // What comes back is what the definition decodes, which the compiler cannot follow.
      const call = new UnaryCall(connection, target, options, done as OnOutcome);
      call.start(request);
      return call;
    } catch (thrown) {
      queueMicrotask(() => done(toFault(thrown)));
      return neverBegun;
    }
  };
}

const neverBegun = { cancel() {} };

/** What is absent or `undefined` in the call's own options is taken from the client's. */
function merge(defaults: ClientOptions, options: StreamCallOptions | undefined): StreamCallOptions {
  if (options === undefined) return defaults;
  return {
    signal: options.signal,
    trace: options.trace,
    deadlineMs: options.deadlineMs ?? defaults.deadlineMs,
    principal: options.principal ?? defaults.principal,
    route: options.route ?? defaults.route,
    window: options.window ?? defaults.window,
    beatMs: options.beatMs ?? defaults.beatMs,
  };
}

/** Subjects are checked and built once per method and route. */
function methodTarget(service: string, definition: MethodDefinition): MethodTarget {
  const plain = callSubject(service, definition.name);
  const routed = byRoute((route) => callSubject(service, definition.name, route));
  return {
    service,
    label: `${service}.${definition.name}`,
    definition,
    subject: (route) => (route === undefined ? plain : routed(route)),
    batchSubject: byRoute((route) => batchSubject(service, route)),
  };
}

/** A route for each partition; those of epochs that are over are forgotten with all others. */
const mostRoutes = 4_096;

function byRoute(subjectOf: (route: string) => string): (route: string) => string {
  const subjects = new Map<string, string>();
  return (route) => {
    let subject = subjects.get(route);
    if (subject === undefined) {
      subject = subjectOf(route);
      if (subjects.size >= mostRoutes) subjects.clear();
      subjects.set(route, subject);
    }
    return subject;
  };
}
