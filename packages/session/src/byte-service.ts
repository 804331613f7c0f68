import type { MethodDefinition, ServiceDefinition } from "@tenure/bus";
import {
  type Bus,
  type CallOptions,
  createClient,
  createStart,
  type MessageCodec,
  type StartCall,
  type StreamCallOptions,
} from "@tenure/bus";

/** Leaves a message as the bytes it came in. */
const bytes: MessageCodec<Uint8Array> = {
  encode: (message) => ({ finish: () => message }),
  decode: (input) => input,
};

/** A method whose messages stay bytes. */
export interface ByteMethod extends MethodDefinition {
  readonly requestType: MessageCodec<Uint8Array>;
  readonly responseType: MessageCodec<Uint8Array>;
}

/** A service whose messages stay bytes. */
export interface ByteService extends ServiceDefinition {
  readonly methods: Readonly<Record<string, ByteMethod>>;
}

/** Calls a unary method with an encoded request. */
export type UnaryBytes = (request: Uint8Array, options: CallOptions) => Promise<Uint8Array>;

/** Begins a call of a unary method with an encoded request, without a promise and a signal. */
export type StartBytes = StartCall<Uint8Array, Uint8Array>;

/** Calls a streaming method with an encoded request. */
export type StreamBytes = (request: Uint8Array, options: StreamCallOptions) => AsyncIterable<Uint8Array>;

/**
 * The same service with messages left as bytes. What is forwarded is not decoded: the service behind the bus is the
 * one that judges a message, and a newer client's unknown fields pass through.
 */
export function byteDefinition(definition: ServiceDefinition): ByteService {
  const methods = Object.entries(definition.methods).map(
    ([key, method]) => [key, { ...method, requestType: bytes, responseType: bytes }] as const,
  );
  return { name: definition.name, fullName: definition.fullName, methods: Object.fromEntries(methods) };
}

/** What begins calls of each unary method of a service, by the name in the .proto file. */
export function byteStarts(bus: Bus, definition: ServiceDefinition): ReadonlyMap<string, StartBytes> {
  const starts = new Map<string, StartBytes>();
  for (const method of Object.values(byteDefinition(definition).methods)) {
    if (!method.requestStream && !method.responseStream) {
      starts.set(method.name, createStart(bus, definition.name, method));
    }
  }
  return starts;
}

/** How one method of a service is called with bytes. */
export interface ByteCaller {
  readonly definition: MethodDefinition;
  /** Present for a unary method. */
  readonly unary?: UnaryBytes;
  /** Present for a method that streams its answers. */
  readonly stream?: StreamBytes;
}

/** Callers of every method of a service that the bus carries, by the name in the .proto file. */
export function byteCallers(bus: Bus, definition: ServiceDefinition): ReadonlyMap<string, ByteCaller> {
  const service = byteDefinition(definition);
  // The client has one function per method, of the kind that its definition says.
  const client = createClient(bus, service) as Readonly<Record<string, UnaryBytes & StreamBytes>>;
  const callers = new Map<string, ByteCaller>();
  for (const [key, method] of Object.entries(service.methods)) {
    const call = client[key];
    if (call === undefined) continue;
    callers.set(method.name, {
      definition: method,
      ...(method.responseStream ? { stream: call } : { unary: call }),
    });
  }
  return callers;
}
