import { defaultTimingPolicy } from "@tenure/core";
import type { GrpcOptions } from "./grpc/grpc-transport.ts";
import { Client, type ClientOptions } from "./instance/client.ts";
import type { Tenure } from "./instance/tenure.ts";
import type { NatsOptions } from "./nats/nats-transport.ts";
import { openSession, type SessionOptions } from "./session/open-session.ts";
import { resolveTiming } from "./timing/check-timing.ts";
import { type DurationInput, optionError, toMs } from "./timing/duration-input.ts";

/** How a client reaches the service and what it is told. One of `endpoint`, `endpoints` and `nats` must be given. */
export interface ConnectOptions extends Omit<ClientOptions, "endProcess"> {
  /** A gateway: `host:port`, `http://host:port` or `https://host:port`. */
  readonly endpoint?: string | undefined;
  /** Several gateways: one is chosen by chance, and the next in turn when it fails. */
  readonly endpoints?: readonly string[] | undefined;
  /** Straight to NATS, for components inside the deployment: the same behaviour without a gateway between. */
  readonly nats?: NatsOptions | undefined;
  /** PEM texts for gateways. Present, also empty, means TLS; `cert` and `key` together authenticate the client. */
  readonly tls?: GrpcOptions["tls"];
  /** Sent with the session's request, such as an `authorization` for a proxy in front: gateways do not read it. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Name and version of the application, for people. */
  readonly userAgent?: string | undefined;
  /**
   * Where terms are renewed. `thread` (default): in a thread with a connection of its own, so that a busy event loop
   * does not lose its terms, and one that has stalled past a term cannot outlive it. `inline`: in this thread.
   */
  readonly renewal?: "thread" | "inline" | undefined;
  /** What the renewing thread does when this one has stalled past a term's deadline. `exit` ends the process (default). */
  readonly onStall?: "exit" | "signal-only" | undefined;
  /** How long this thread may show no life before its terms are no longer renewed. Default half of H, at most 5 s. */
  readonly mainSilence?: DurationInput | undefined;
  /** How long the first connect may take. Default 10 s. Later the client reconnects for ever. */
  readonly connectTimeout?: DurationInput | undefined;
  /** Aborting it gives the first connect up. */
  readonly signal?: AbortSignal | undefined;
}

/** A main thread that is busy for longer than this is not renewed for, however long its terms are. */
const longestSilenceMs = 5_000;

/**
 * Connects. Resolves when the service has greeted; rejects with UNAVAILABLE when it does not within `connectTimeout`,
 * and at once when it refuses the caller or the options cannot work.
 */
export async function connect(options: ConnectOptions): Promise<Tenure> {
  const policy = { ...defaultTimingPolicy, ...options.policy };
  const timing = resolveTiming(options.timing ?? {}, policy);
  const session = await openSession({
    ...reachOf(options),
    userAgent: options.userAgent,
    renewal: options.renewal,
    onStall: options.onStall,
    mainSilenceMs: msOf(options.mainSilence, "mainSilence") ?? Math.min(longestSilenceMs, timing.usableTermMs / 2),
    stopBoundMs: policy.stopBoundMs,
    beatIntervalMs: timing.renewIntervalMs,
    requestTimeoutMs: timing.requestTimeoutMs,
    connectTimeoutMs: msOf(options.connectTimeout, "connectTimeout"),
    callTimeoutMs: msOf(options.callTimeout, "callTimeout"),
    signal: options.signal,
  });
  return new Client(session, options);
}

function reachOf(options: ConnectOptions): Pick<SessionOptions, "grpc" | "nats"> {
  const { endpoint, endpoints, nats, tls, metadata } = options;
  const given = [endpoint, endpoints, nats].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw optionError("endpoint, endpoints, nats", "exactly one of the three must be given", `${given.length} of them`);
  }
  if (nats !== undefined) return { nats };
  return { grpc: { endpoints: endpoints ?? [endpoint ?? ""], tls, metadata } };
}

function msOf(input: DurationInput | undefined, field: string): number | undefined {
  return input === undefined ? undefined : toMs(input, field);
}
