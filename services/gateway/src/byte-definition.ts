import type { MessageCodec, MethodDefinition, ServiceDefinition } from "@tenure/bus";

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

/**
 * The same service with messages left as bytes. The gateway forwards what it is sent without decoding it: the service
 * behind the bus is the one that judges a message, and a newer client's unknown fields pass through.
 */
export function byteDefinition(definition: ServiceDefinition): ByteService {
  const methods = Object.entries(definition.methods).map(
    ([key, method]) => [key, { ...method, requestType: bytes, responseType: bytes }] as const,
  );
  return { name: definition.name, fullName: definition.fullName, methods: Object.fromEntries(methods) };
}
