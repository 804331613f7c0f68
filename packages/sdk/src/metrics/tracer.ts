/** What a span may say of itself. */
export type TraceAttributes = Readonly<Record<string, string | number | boolean>>;

/** A span under way. */
export interface TraceSpan {
  event(name: string, attributes?: TraceAttributes): void;
  /** Ends the span, as failed if an error is given. */
  end(error?: Error): void;
}

/**
 * Where spans go. The SDK has no tracing of its own; a tracer of OpenTelemetry fits with a few lines, and without one
 * nothing is recorded. Spans: `tenure.claim` from the claim to its grant, and `tenure.term` from the grant to the end,
 * with the events `at-risk`, `held`, `signal` and `lost`.
 */
export interface Tracer {
  start(name: string, attributes: TraceAttributes): TraceSpan;
}
