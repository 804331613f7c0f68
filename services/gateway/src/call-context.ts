import type { Metadata, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import { anonymous, type CallOptions } from "@tenure/bus";
import type { Clock } from "@tenure/kernel";
import type { Bytes } from "./grpc-definition.ts";

/** A gRPC call with one request. */
export type OneRequestCall = ServerUnaryCall<Bytes, Bytes> | ServerWritableStream<Bytes, Bytes>;

/**
 * What a gRPC call says about itself, in the bus's terms: time left, cancellation, trace and principal. gRPC gives the
 * deadline as a wall-clock instant that it made from a duration, so the duration is taken back at once.
 */
export function callOptions(call: OneRequestCall, clock: Clock): CallOptions {
  const abort = new AbortController();
  call.on("cancelled", () => abort.abort());
  const deadlineMs = remainingMs(call, clock);
  const trace = traceOf(call.metadata);
  return {
    signal: abort.signal,
    principal: anonymous,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(trace === undefined ? {} : { trace }),
  };
}

function remainingMs(call: OneRequestCall, clock: Clock): number | undefined {
  const deadline = call.getDeadline();
  const instantMs = deadline instanceof Date ? deadline.getTime() : deadline;
  return Number.isFinite(instantMs) ? Math.max(1, instantMs - clock.wall()) : undefined;
}

function traceOf(metadata: Metadata): CallOptions["trace"] {
  const [traceparent] = metadata.get("traceparent");
  if (traceparent === undefined) return undefined;
  const [tracestate] = metadata.get("tracestate");
  return { traceparent: String(traceparent), ...(tracestate === undefined ? {} : { tracestate: String(tracestate) }) };
}
