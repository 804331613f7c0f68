import { type Bus, connectBus, inboxPrefixOf } from "@tenure/bus";
import { systemClock, systemRandom } from "@tenure/kernel";

/** Connects to a NATS server that lets everyone do everything. */
export function connectRaw(url: string): Promise<Bus> {
  return connectBus({
    servers: [url],
    name: "bench",
    inboxPrefix: inboxPrefixOf("bench"),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
}
