import { readFile } from "node:fs/promises";
import { type Bus, connectBus, inboxPrefixOf } from "@tenure/bus";
import { systemClock, systemRandom } from "@tenure/kernel";
import type { NatsServer } from "./nats-server.ts";

/** Connects the test itself: to a plain server, or as a user of a provisioned one. */
export async function connectTest(nats: NatsServer, user?: string): Promise<Bus> {
  return await connectBus({
    servers: [nats.url],
    name: "test",
    inboxPrefix: inboxPrefixOf(user ?? "test"),
    nkeySeed: user === undefined ? undefined : await readFile(nats.nkeyFile(user)),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
}
