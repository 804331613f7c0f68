import { once } from "node:events";
import type {
  handleBidiStreamingCall,
  handleClientStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { type Bus, type CallOptions, createClient, type StreamCallOptions } from "@tenure/bus";
import { type Clock, Fault } from "@tenure/kernel";
import { type ByteService, byteDefinition } from "./byte-definition.ts";
import { callOptions } from "./call-context.ts";
import type { Bytes } from "./grpc-definition.ts";
import { grpcStatus } from "./grpc-status.ts";

/** What forwarding needs of its surroundings. */
export interface ForwardContext {
  readonly bus: Bus;
  readonly clock: Clock;
  /** Whether a running instance has ever announced that it serves this service, by full name. */
  wasServed(fullName: string): boolean;
}

type UnaryForward = (request: Uint8Array, options: CallOptions) => Promise<Uint8Array>;
type StreamForward = (request: Uint8Array, options: StreamCallOptions) => AsyncIterable<Uint8Array>;

/** gRPC handlers that pass every call of a service to the bus, unchanged, and its answer or fault back. */
export function forwardService(
  definition: Parameters<typeof byteDefinition>[0],
  context: ForwardContext,
): UntypedServiceImplementation {
  const service = byteDefinition(definition);
  const client = createClient(context.bus, service) as Readonly<Record<string, UnaryForward & StreamForward>>;
  const handlers: UntypedServiceImplementation = {};
  for (const [key, method] of Object.entries(service.methods)) {
    const forward = client[key];
    if (method.requestStream || forward === undefined) handlers[key] = refuseStream(service, method.name);
    else
      handlers[key] = method.responseStream
        ? forwardStream(service, forward, context)
        : forwardUnary(service, forward, context);
  }
  return handlers;
}

function forwardUnary(
  service: ByteService,
  forward: UnaryForward,
  context: ForwardContext,
): handleUnaryCall<Bytes, Bytes> {
  return (call, respond) => {
    forward(call.request, callOptions(call, context.clock)).then(
      (response) => respond(null, Buffer.from(response)),
      (thrown: unknown) => respond(grpcStatus(explainSilence(thrown, service, context))),
    );
  };
}

function forwardStream(
  service: ByteService,
  forward: StreamForward,
  context: ForwardContext,
): handleServerStreamingCall<Bytes, Bytes> {
  return async (call) => {
    const options = callOptions(call, context.clock);
    try {
      for await (const item of forward(call.request, options)) {
        // Waiting here lets a slow client slow the service down, instead of filling this process's memory.
        if (!call.write(Buffer.from(item))) await once(call, "drain", { signal: options.signal });
      }
      call.end();
    } catch (thrown) {
      call.emit("error", grpcStatus(explainSilence(thrown, service, context)));
    }
  };
}

/** Calls whose client streams are served by the gateway itself or not at all: the bus carries one request per call. */
function refuseStream(
  service: ByteService,
  method: string,
): handleBidiStreamingCall<Bytes, Bytes> & handleClientStreamingCall<Bytes, Bytes> {
  return (call: NodeJS.EventEmitter) => call.emit("error", grpcStatus(notServed(`${service.fullName}/${method}`)));
}

/**
 * Nobody listening means two things to a caller: a service that this deployment does not have is UNIMPLEMENTED and not
 * worth a retry; one that has been here and is away is UNAVAILABLE.
 */
function explainSilence(thrown: unknown, service: ByteService, context: ForwardContext): unknown {
  const isSilent = thrown instanceof Fault && thrown.reason === "NO_RESPONDER";
  return isSilent && !context.wasServed(service.fullName) ? notServed(service.fullName, thrown) : thrown;
}

function notServed(name: string, cause?: unknown): Fault {
  return new Fault({
    code: "UNIMPLEMENTED",
    reason: "NOT_SERVED",
    message: `no service of this deployment serves ${name}`,
    details: { applied: "NO" },
    cause,
  });
}
