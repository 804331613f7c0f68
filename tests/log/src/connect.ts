import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { type Bus, connectBus, inboxPrefixOf } from "@tenure/bus";
import { systemClock, systemRandom } from "@tenure/kernel";
import { streamNames } from "@tenure/log";

/** A connection for a test; `user` names its inboxes, the URL or the seed says who it is. */
export function connect(servers: string | readonly string[], user = "test", seed?: string): Promise<Bus> {
  return connectBus({
    servers: typeof servers === "string" ? [servers] : servers,
    name: `test ${user}`,
    inboxPrefix: inboxPrefixOf(user),
    nkeySeed: seed === undefined ? undefined : new TextEncoder().encode(seed),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
}

/** JetStream behind the product's back. */
export function administrator(bus: Bus): Promise<JetStreamManager> {
  return jetstreamManager(bus.nats, { checkAPI: false, timeout: 10_000 });
}

/** The names of all streams that exist, sorted. */
export async function existingStreams(bus: Bus): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const name of (await administrator(bus)).streams.names()) names.push(name);
  return names.sort();
}

/** The names of all streams that a deployment has, sorted. */
export const allStreams: readonly string[] = Object.values(streamNames).sort();
