import { once } from "node:events";
import type {
  handleBidiStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { ServiceDefinition } from "@tenure/bus";
import { Fault } from "@tenure/kernel";
import { callTimeoutMs, notServed } from "@tenure/session";
import { describeCall } from "./call-context.ts";
import { assertSize, type FrontContext, faultFor, stopping } from "./front-context.ts";
import type { Bytes } from "./grpc-definition.ts";
import { grpcStatus } from "./grpc-status.ts";

/** Handlers of methods whose clients stream, by full path, `/tenure.v1.SessionService/Session`. */
export type StreamFronts = Readonly<Record<string, handleBidiStreamingCall<Bytes, Bytes>>>;

/**
 * gRPC handlers of a service: one-request calls go to the services with their bytes unchanged, and their answers and
 * faults come back; client streams are the gateway's own, and those that it does not have are UNIMPLEMENTED.
 */
export function frontService(
  definition: ServiceDefinition,
  context: FrontContext,
  streams: StreamFronts,
): UntypedServiceImplementation {
  const handlers: UntypedServiceImplementation = {};
  for (const [key, method] of Object.entries(definition.methods)) {
    const name = `${definition.name}.${method.name}`;
    const path = `/${definition.fullName}/${method.name}`;
    if (method.requestStream) handlers[key] = streams[path] ?? refuseStream(path.slice(1));
    else handlers[key] = method.responseStream ? frontStream(name, context) : frontUnary(name, context);
  }
  return handlers;
}

function frontUnary(name: string, context: FrontContext): handleUnaryCall<Bytes, Bytes> {
  const { calls, connections, maxRequestBytes } = context;
  return (call, respond) => {
    let release = () => {};
    const finish = (outcome: Uint8Array | Fault) => {
      release();
      if (outcome instanceof Fault) respond(grpcStatus(outcome));
      else respond(null, asBuffer(outcome));
    };
    try {
      release = connections.admit(call.getPeer());
      assertSize(call.request, "max-request-bytes", maxRequestBytes);
      const { deadlineMs, ...described } = describeCall(call, context);
      const options = { ...described, deadlineMs: callTimeoutMs(name, call.request, deadlineMs) };
      const open = calls.start(name, call.request, options, finish);
      call.on("cancelled", () => {
        release();
        open.cancel();
      });
    } catch (thrown) {
      finish(faultFor(thrown, context));
    }
  };
}

function frontStream(name: string, context: FrontContext): handleServerStreamingCall<Bytes, Bytes> {
  const { calls, connections, maxRequestBytes, stop } = context;
  return async (call) => {
    const abort = new AbortController();
    const onStop = () => abort.abort(stopping());
    call.on("cancelled", () => abort.abort());
    stop.addEventListener("abort", onStop, { once: true });
    let release = () => {};
    try {
      if (stop.aborted) throw stopping();
      release = connections.admit(call.getPeer());
      assertSize(call.request, "max-request-bytes", maxRequestBytes);
      for await (const item of calls.stream(name, call.request, {
        ...describeCall(call, context),
        signal: abort.signal,
      })) {
        // Waiting here lets a slow client slow the service down, instead of filling this process's memory.
        if (!call.write(asBuffer(item))) await once(call, "drain", { signal: abort.signal });
      }
      call.end();
    } catch (thrown) {
      const reason: unknown = abort.signal.aborted ? abort.signal.reason : thrown;
      // A caller that has gone is told nothing.
      if (!abort.signal.aborted || reason instanceof Fault) call.emit("error", grpcStatus(faultFor(reason, context)));
    } finally {
      stop.removeEventListener("abort", onStop);
      release();
    }
  };
}

/** Client streams are served by the gateway itself or not at all: the bus carries one request per call. */
function refuseStream(path: string): handleBidiStreamingCall<Bytes, Bytes> {
  return (call) => void call.emit("error", grpcStatus(notServed(path)));
}

/** gRPC takes buffers; the bytes themselves are shared. */
export function asBuffer(bytes: Uint8Array): Bytes {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
