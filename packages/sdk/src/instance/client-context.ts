import type { TimingPolicy } from "@tenure/core";
import { TenureError } from "../errors.ts";
import type { ClientMetrics } from "../metrics/client-metrics.ts";
import type { Tracer } from "../metrics/tracer.ts";
import type { Session } from "../session/session.ts";
import type { LeaseInput, LeaseName } from "../term/lease-name.ts";
import type { TimingOptions } from "../timing/term-timing.ts";
import type { ClientEvent } from "./client-event.ts";
import type { EndProcess } from "./end-process.ts";
import type { RunningTerms } from "./running-terms.ts";

/** What every part of one client stands on. */
export interface ClientContext {
  readonly session: Session;
  /** What the deployment assumes of clocks and processes. */
  readonly policy: TimingPolicy;
  /** Durations of every term that does not say otherwise. */
  readonly timing: TimingOptions;
  /** How long a call tries when it does not say, in ms. */
  readonly callTimeoutMs: number;
  /** The identity that this client's holds show unless a call names another. */
  readonly holder: string;
  readonly metrics: ClientMetrics;
  readonly tracer: Tracer | undefined;
  readonly endProcess: EndProcess;
  readonly terms: RunningTerms;
  /** Aborted when the client closes. */
  readonly closing: AbortSignal;
  /** Tells the application's listener; undefined if it has none. */
  readonly emit: ((event: ClientEvent) => void) | undefined;
  /** Reads a lease's name in the client's default namespace. */
  leaseName(input: LeaseInput): LeaseName;
  /** The id of this process's own identity, which its holds name; empty if it has none. */
  identityId?(): string;
}

/**
 * Aborted when the client closes, or `signal` is. A signal of its own for each caller: to listen to one takes longer the
 * more listen to it, and a client may have ten thousand campaigns.
 */
export function stopSignal({ closing }: Pick<ClientContext, "closing">, signal: AbortSignal | undefined): AbortSignal {
  return AbortSignal.any(signal === undefined ? [closing] : [signal, closing]);
}

/** Throws CANCELLED once the client closes. */
export function refuseIfClosed({ closing }: Pick<ClientContext, "closing">): void {
  if (!closing.aborted) return;
  throw new TenureError({ code: "CANCELLED", reason: "SESSION_CLOSED", message: "the client was closed" });
}
