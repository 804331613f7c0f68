import { AuthorizationError, connect, type NatsConnection } from "@nats-io/transport-node";
import { Backoff, Fault, formatDuration, redactLogins } from "@tenure/kernel";
import type { Bus, BusOptions } from "./bus.ts";
import { BusConnection } from "./bus-connection.ts";
import { natsOptions } from "./connection-options.ts";

/**
 * Connects to the first server that answers, retrying until `connectTimeoutMs` has passed. Fails with UNAVAILABLE
 * (NATS_UNREACHABLE) then, with UNAUTHENTICATED (NATS_CREDENTIAL_REFUSED) as soon as a server refuses the credential,
 * and with CANCELLED when `signal` is aborted. Once connected, the bus reconnects for ever by itself.
 */
export async function connectBus(options: BusOptions, signal?: AbortSignal): Promise<Bus> {
  const { clock } = options;
  const backoff = new Backoff({ firstMs: 100, limitMs: 1_000 }, options.random);
  const endMs = clock.now() + options.connectTimeoutMs;
  for (;;) {
    const remainingMs = endMs - clock.now();
    try {
      return new BusConnection(await dial(options, remainingMs, signal), options);
    } catch (error) {
      if (error instanceof Fault) throw error;
      if (isRefusal(error)) throw credentialRefused(options, error);
      const waitMs = backoff.next();
      if (clock.now() + waitMs >= endMs) throw unreachable(options, error);
      await clock.sleep(waitMs, signal).catch((cause: unknown) => {
        throw connectCancelled(cause);
      });
    }
  }
}

/** One dial of every server. One that answers after the abort or the bound is closed again. */
async function dial(
  options: BusOptions,
  remainingMs: number,
  signal: AbortSignal | undefined,
): Promise<NatsConnection> {
  if (signal?.aborted) throw connectCancelled(signal.reason);
  const dialling = connect(natsOptions(options, remainingMs));
  const given = new AbortController();
  const limit = signal === undefined ? given.signal : AbortSignal.any([signal, given.signal]);
  const bound = options.clock.sleep(Math.max(0, remainingMs), limit).then(
    () => "late" as const,
    () => "late" as const,
  );
  const first = await Promise.race([dialling, bound]).finally(() => given.abort());
  if (first !== "late") return first;
  void dialling.then((late) => late.close()).catch(() => undefined);
  if (signal?.aborted) throw connectCancelled(signal.reason);
  throw new Error("no answer");
}

function isRefusal(error: unknown): boolean {
  return error instanceof AuthorizationError && !/timeout/i.test(error.message);
}

function serverList(options: BusOptions): string {
  return options.servers.map(redactLogins).join(", ");
}

function connectCancelled(cause: unknown): Fault {
  return new Fault({
    code: "CANCELLED",
    reason: "CANCELLED",
    message: "connecting to NATS was cancelled",
    cause,
  });
}

function credentialRefused(options: BusOptions, cause: unknown): Fault {
  return new Fault({
    code: "UNAUTHENTICATED",
    reason: "NATS_CREDENTIAL_REFUSED",
    message: `the NATS server at ${serverList(options)} refused the credential: give the NKEY file or the user and password that it knows`,
    cause,
  });
}

function unreachable(options: BusOptions, cause: unknown): Fault {
  const last = cause instanceof Error && cause.message !== "" ? cause.message.toLowerCase() : "no answer";
  const boundText = formatDuration(options.connectTimeoutMs);
  return new Fault({
    code: "UNAVAILABLE",
    reason: "NATS_UNREACHABLE",
    message: `no NATS server answered at ${serverList(options)} within ${boundText} (${last}): start it or correct its URL`,
    cause,
  });
}
