import { connectBus, inboxPrefixOf } from "@tenure/bus";
import { systemClock, systemRandom } from "@tenure/kernel";
import { createStreams } from "@tenure/log";
import { type NatsOptions, type NatsServer, startNats } from "@tenure/testkit";

/** Connects as a test, to look at what services do. */
export function connectTest(url: string) {
  return connectBus({
    servers: [url],
    name: "test",
    inboxPrefix: inboxPrefixOf("test"),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
}

/** A NATS server on which `init` has run. */
export async function startDeployment(options: NatsOptions = {}): Promise<NatsServer> {
  const server = await startNats(options);
  try {
    await using bus = await connectTest(server.url);
    await createStreams(bus, { replicas: 1, partitions: 8, clock: systemClock });
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}
