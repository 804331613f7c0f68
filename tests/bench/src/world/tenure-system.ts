import { systemClock } from "@tenure/kernel";
import { createStreams } from "@tenure/log";
import { connectTest, Deployment, type NatsServer, startNats, startNatsCluster } from "@tenure/testkit";
import type { System } from "./system.ts";

/** What `npm start` runs, in its order. */
const services = ["lease-store", "identity", "election", "migration", "gateway"] as const;

/** The servers under a deployment, and what ends them. */
interface Servers extends AsyncDisposable {
  readonly servers: readonly NatsServer[];
}

/**
 * Starts Tenure as `npm start` does, each service a process of its own, on one NATS server or on three, each of which
 * syncs every write before it is acknowledged.
 */
export async function startTenure(servers: number): Promise<System> {
  const bus = await startServers(servers);
  const [first] = bus.servers;
  if (first === undefined) throw new Error("a deployment needs a server");
  const connection = await connectTest(first);
  const incarnation = await createStreams(connection, { replicas: servers, partitions: 1, clock: systemClock });
  const log = ["--log-level=warn"];
  const args = Object.fromEntries(services.map((service) => [service, log]));
  const deployment = new Deployment({ nats: first, bus: connection, incarnation, shape: { args } });
  for (const service of services) await deployment.start(service, `${service}-1`);
  await deployment.ready();
  const own = [...deployment.processes.values()].map(({ name, pid }) => ({ name, pid }));
  const count = servers === 1 ? "one NATS server" : `${servers} NATS servers, ${servers} copies of the log`;
  return {
    description: `Tenure as npm start runs it, one partition, nats-server ${first.version}, ${count}, every write synced`,
    endpoints: { "tenure-grpc": deployment.grpc(), "tenure-nats": first.url },
    processes: [...bus.servers.map(({ pid }) => ({ name: "nats-server", pid })), ...own],
    async [Symbol.asyncDispose]() {
      // In order, so that a profile of a process is written.
      await Promise.all([...deployment.processes.values()].map((one) => one.stop()));
      await deployment[Symbol.asyncDispose]();
      await bus[Symbol.asyncDispose]();
    },
  };
}

async function startServers(count: number): Promise<Servers> {
  if (count > 1) return await startNatsCluster(count);
  const server = await startNats();
  return { servers: [server], [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
