import { type Bus, type Client, connectBus, createClient, inboxPrefixOf } from "@tenure/bus";
import {
  CandidateServiceDefinition,
  GuardServiceDefinition,
  LeaseServiceDefinition,
  StoreServiceDefinition,
} from "@tenure/contracts";
import { systemClock, systemRandom } from "@tenure/kernel";
import { createStreams } from "@tenure/log";
import { watchPresence } from "@tenure/runtime";
import { type ManagedProcess, type NatsServer, startNats, startService, waitFor } from "@tenure/testkit";

/** Connects as a test. */
export function connectTest(url: string): Promise<Bus> {
  return connectBus({
    servers: [url],
    name: "test",
    inboxPrefix: inboxPrefixOf("test"),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
}

/** A NATS server, lease-store replicas as processes, and clients of their services. */
export class Deployment implements AsyncDisposable {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly leases: Client<typeof LeaseServiceDefinition>;
  readonly guards: Client<typeof GuardServiceDefinition>;
  readonly candidates: Client<typeof CandidateServiceDefinition>;
  readonly store: Client<typeof StoreServiceDefinition>;
  readonly replicas = new Map<string, ManagedProcess>();
  readonly #presence: ReturnType<typeof watchPresence>;

  constructor(nats: NatsServer, bus: Bus) {
    this.nats = nats;
    this.bus = bus;
    this.#presence = watchPresence(bus, systemClock, () => {});
    const options = { principal: "test", deadlineMs: 10_000 };
    this.leases = createClient(bus, LeaseServiceDefinition, options);
    this.guards = createClient(bus, GuardServiceDefinition, options);
    this.candidates = createClient(bus, CandidateServiceDefinition, options);
    this.store = createClient(bus, StoreServiceDefinition, options);
  }

  /** Starts a replica; resolves at once. */
  start(instance: string, args: readonly string[] = []): ManagedProcess {
    const replica = startService("lease-store", {
      args: [
        "--mode=development",
        `--nats-url=${this.nats.url}`,
        `--instance=${instance}`,
        "--http-port=0",
        "--minimum-lease-duration=500ms",
        ...args,
      ],
    });
    this.replicas.set(instance, replica);
    return replica;
  }

  /** Waits until every replica that was started says that it is ready. */
  async ready(): Promise<void> {
    const wanted = [...this.replicas.keys()];
    const isReady = (name: string) =>
      this.#presence.instances.some(({ instance, ready, service }) => {
        return service === "lease-store" && instance === name && ready;
      });
    await waitFor(() => wanted.every(isReady), { describe: "every replica to be ready", timeoutMs: 60_000 });
  }

  /** Who owns a partition, as the given replica tells. */
  ownerOf(partition: number): string {
    const told = this.#presence.instances.flatMap(({ partitions }) =>
      partitions.filter((one) => one.partition === partition),
    );
    return told.toSorted((left, right) => Number(right.epoch - left.epoch))[0]?.owner ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.replicas.values()].map((replica) => replica[Symbol.asyncDispose]()));
    this.#presence[Symbol.dispose]();
    await this.bus.drain();
    await this.nats[Symbol.asyncDispose]();
  }
}

/** Starts NATS, runs `init`, and starts replicas named `store-1` and so on. */
export async function startDeployment(replicas: number, args: readonly string[] = []): Promise<Deployment> {
  const nats = await startNats();
  const bus = await connectTest(nats.url);
  await createStreams(bus, { replicas: 1, partitions: 8, clock: systemClock });
  const deployment = new Deployment(nats, bus);
  for (let number = 1; number <= replicas; number += 1) deployment.start(`store-${number}`, args);
  await deployment.ready();
  return deployment;
}
