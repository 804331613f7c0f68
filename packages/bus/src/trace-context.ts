/** A W3C trace context, carried unchanged from the caller to the handler. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/**
 * Version, trace id, parent id and flags in lower-case hex; the all-zero ids and version `ff` are invalid. Versions
 * after `00` may append fields.
 */
const traceparentPattern =
  /^(?:00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}|(?!00|ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]{1,200})?)$/;

/** Printable ASCII of at most 512 characters: what the recommendation asks everyone to carry. */
const tracestatePattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,510}[\x21-\x7e])?$/;

/**
 * The valid part of a trace context. A malformed `traceparent` drops the whole context and a malformed `tracestate`
 * only itself, as the recommendation says: a broken trace never fails a call.
 */
export function traceContextOf(
  traceparent: string | undefined,
  tracestate: string | undefined,
): TraceContext | undefined {
  if (traceparent === undefined || !traceparentPattern.test(traceparent)) return undefined;
  if (tracestate === undefined || !tracestatePattern.test(tracestate)) return { traceparent };
  return { traceparent, tracestate };
}
