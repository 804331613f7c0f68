import type { Metadata } from "@grpc/grpc-js";
import type { TraceContext } from "@tenure/bus";
import type { Clock } from "@tenure/kernel";
import type { FrontContext } from "./front-context.ts";
import type { NamedCertificate } from "./principal.ts";

/** The part of a gRPC call that says something about itself. */
export interface DescribedCall {
  readonly metadata: Metadata;
  getDeadline(): Date | number;
  getAuthContext(): { readonly sslPeerCertificate?: NamedCertificate };
}

/** What a gRPC call says about itself, in the bus's terms. */
export interface CallDescription {
  readonly principal: string;
  /** Absent when the caller set no deadline. */
  readonly deadlineMs?: number;
  readonly trace?: TraceContext;
}

/**
 * Time left, trace and principal of a gRPC call; throws UNAUTHENTICATED for a caller who cannot be told. gRPC gives the
 * deadline as a wall-clock instant that it made from a duration, so the duration is taken back at once.
 */
export function describeCall(
  call: DescribedCall,
  { clock, identify }: Pick<FrontContext, "clock" | "identify">,
): CallDescription {
  const deadlineMs = remainingMs(call, clock);
  const trace = traceOf(call.metadata);
  return {
    principal: identify(call.getAuthContext().sslPeerCertificate),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(trace === undefined ? {} : { trace }),
  };
}

function remainingMs(call: DescribedCall, clock: Clock): number | undefined {
  const deadline = call.getDeadline();
  const instantMs = deadline instanceof Date ? deadline.getTime() : deadline;
  return Number.isFinite(instantMs) ? Math.max(1, instantMs - clock.wall()) : undefined;
}

function traceOf(metadata: Metadata): TraceContext | undefined {
  const [traceparent] = metadata.get("traceparent");
  if (traceparent === undefined) return undefined;
  const [tracestate] = metadata.get("tracestate");
  return { traceparent: String(traceparent), ...(tracestate === undefined ? {} : { tracestate: String(tracestate) }) };
}
