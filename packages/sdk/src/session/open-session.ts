import { randomBytes } from "node:crypto";
import { defaultTiming, defaultTimingPolicy } from "@tenure/core";
import { HolderClock, type Random, randomBase58, systemRandom } from "@tenure/kernel";
import { TenureError } from "../errors.ts";
import type { GrpcOptions } from "../grpc/grpc-transport.ts";
import type { NatsOptions } from "../nats/nats-transport.ts";
import type { Keeper } from "../renewal/keeper.ts";
import { FreshHolds } from "../renewal/thread/fresh-holds.ts";
import type { StallAction } from "../renewal/thread/messages.ts";
import { RenewalThread, type RenewalThreadOptions } from "../renewal/thread/renewal-thread.ts";
import { hasThreadModule } from "../renewal/thread/thread-handle.ts";
import { makeTransport, type TransportChoice } from "../transport/make-transport.ts";
import type { Session } from "./session.ts";
import { SessionClient } from "./session-client.ts";

/** How a session is opened. Exactly one of `grpc` and `nats` must be given. */
export interface SessionOptions {
  /** Through gateways. */
  readonly grpc?: GrpcOptions | undefined;
  /** Straight on NATS, for components inside the deployment. */
  readonly nats?: NatsOptions | undefined;
  /** Name and version of the application, for people; `tenure-sdk` when absent. */
  readonly userAgent?: string | undefined;
  /** Where terms are renewed: in a thread of its own (default), or in this one. */
  readonly renewal?: "thread" | "inline" | undefined;
  /** What the renewing thread does when this one has stalled past a term's deadline; ends the process by default. */
  readonly onStall?: StallAction | undefined;
  /** How long this thread may show no life before its terms are no longer renewed; 5 s when absent. */
  readonly mainSilenceMs?: number | undefined;
  /** σ; 1 s when absent. */
  readonly stopBoundMs?: number | undefined;
  /** The longest time between two beats of a wait; R of the claims that are to be made. 2 s when absent. */
  readonly beatIntervalMs?: number | undefined;
  /** T; 2 s when absent. */
  readonly requestTimeoutMs?: number | undefined;
  /** How long the first connect may take; 10 s when absent. Later the session reconnects for ever. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long a call tries when its caller does not say; 5 s when absent. */
  readonly callTimeoutMs?: number | undefined;
  /** Aborting it gives the first connect up. */
  readonly signal?: AbortSignal | undefined;
  readonly random?: Random | undefined;
}

const defaultMainSilenceMs = 5_000;
const defaultConnectTimeoutMs = 10_000;
const defaultCallTimeoutMs = 5_000;
const clientIdDigits = 16;
const renewKeyBytes = 32;

/** One for all sessions of the process: what it has to read now and then is read once. */
const clock = new HolderClock();

/**
 * Opens a session and waits for the service's first greeting; UNAVAILABLE with UNREACHABLE when that does not come in
 * time, at once when the service refuses the caller.
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { callTimeoutMs = defaultCallTimeoutMs, connectTimeoutMs = defaultConnectTimeoutMs } = options;
  const { random = systemRandom, renewal = "thread", userAgent = "tenure-sdk" } = options;
  const choice = choiceOf(options);
  const common = {
    clientId: randomBase58(random, clientIdDigits),
    renewKey: new Uint8Array(randomBytes(renewKeyBytes)),
    userAgent,
    beatIntervalMs: options.beatIntervalMs ?? defaultTiming.renewIntervalMs,
    requestTimeoutMs: options.requestTimeoutMs ?? defaultTiming.requestTimeoutMs,
  };
  const transport = makeTransport(choice, { clock, random, userAgent, connectTimeoutMs });
  const start = { ...common, ...stallOptionsOf(options), transport: choice, connectTimeoutMs };
  const makeKeeper = renewal === "thread" ? threadMaker(start, clock, random) : undefined;
  const session = new SessionClient({ ...common, transport, clock, random, callTimeoutMs, makeKeeper });
  session.start();
  try {
    await session.connected(connectTimeoutMs, options.signal);
  } catch (thrown) {
    await session[Symbol.asyncDispose]();
    throw thrown;
  }
  return session;
}

function stallOptionsOf({ mainSilenceMs, onStall, stopBoundMs }: SessionOptions) {
  return {
    mainSilenceMs: mainSilenceMs ?? defaultMainSilenceMs,
    onStall: onStall ?? "exit",
    stopBoundMs: stopBoundMs ?? defaultTimingPolicy.stopBoundMs,
  };
}

/** The thread is another client of the service, with the same secret: terms belong to the principal and the secret. */
function threadMaker(start: RenewalThreadOptions["start"], clock: HolderClock, random: Random) {
  if (!hasThreadModule()) {
    const rule = "needs the SDK's renewal-worker.js beside its renewal-thread.js: bundle it as a file of its own";
    throw optionInvalid("renewal", `"thread" ${rule}, or renew "inline"`);
  }
  const ownStart = { ...start, clientId: `${start.clientId}.renewal` };
  return (inline: Keeper): Keeper =>
    new FreshHolds(new RenewalThread({ start: ownStart, clock, random, inline }), clock);
}

function choiceOf({ grpc, nats }: SessionOptions): TransportChoice {
  if (grpc !== undefined && nats === undefined) {
    if (grpc.endpoints.length === 0) throw optionInvalid("grpc.endpoints", "must name at least one endpoint");
    return { kind: "grpc", options: grpc };
  }
  if (nats !== undefined && grpc === undefined) {
    if (nats.servers.length === 0) throw optionInvalid("nats.servers", "must name at least one server");
    return { kind: "nats", options: nats };
  }
  throw optionInvalid("grpc, nats", "exactly one of the two must be given");
}

function optionInvalid(field: string, rule: string): TenureError {
  const details = { violations: [{ field, rule, value: "" }] };
  return new TenureError({ code: "INVALID_ARGUMENT", reason: "OPTION_INVALID", message: `${field}: ${rule}`, details });
}
