import type { Bus } from "./bus.ts";
import { type BusConnection, connectionOf } from "./bus-connection.ts";
import type { CallOptions, Client, ClientOptions, StreamCallOptions } from "./call-options.ts";
import type { MethodDefinition, ServiceDefinition } from "./service-definition.ts";
import { callStream } from "./stream-call.ts";
import { callSubject } from "./subjects.ts";
import { callUnary, type MethodTarget } from "./unary-call.ts";

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

/** Subjects are checked and built once per method, and once for each change of route. */
function methodTarget(service: string, definition: MethodDefinition): MethodTarget {
  const plain = callSubject(service, definition.name);
  let lastRoute: string | undefined;
  let lastSubject = plain;
  return {
    service,
    label: `${service}.${definition.name}`,
    definition,
    subject(route) {
      if (route === undefined) return plain;
      if (route !== lastRoute) {
        lastSubject = callSubject(service, definition.name, route);
        lastRoute = route;
      }
      return lastSubject;
    },
  };
}
