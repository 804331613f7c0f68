import { readFile } from "node:fs/promises";
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

/** Connects as a test, or as a user of a provisioned server. */
export async function connectTest(nats: NatsServer, user?: string): Promise<Bus> {
  return connectBus({
    servers: [nats.url],
    name: "test",
    inboxPrefix: inboxPrefixOf(user ?? "test"),
    nkeySeed: user === undefined ? undefined : await readFile(nats.nkeyFile(user)),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
}

/** A NATS server, lease-store replicas as processes, and clients of their services. */
export class Deployment implements AsyncDisposable {
  readonly nats: NatsServer;
  readonly bus: Bus;
  /** Whether the replicas sign in as users of a provisioned server. */
  readonly isSecured: boolean;
  readonly leases: Client<typeof LeaseServiceDefinition>;
  readonly guards: Client<typeof GuardServiceDefinition>;
  readonly candidates: Client<typeof CandidateServiceDefinition>;
  readonly store: Client<typeof StoreServiceDefinition>;
  readonly replicas = new Map<string, ManagedProcess>();
  readonly #presence: ReturnType<typeof watchPresence>;

  constructor(nats: NatsServer, bus: Bus, isSecured = false) {
    this.nats = nats;
    this.bus = bus;
    this.isSecured = isSecured;
    this.#presence = watchPresence(bus, systemClock, () => {});
    const options = { principal: "test", deadlineMs: 10_000 };
    this.leases = createClient(bus, LeaseServiceDefinition, options);
    this.guards = createClient(bus, GuardServiceDefinition, options);
    this.candidates = createClient(bus, CandidateServiceDefinition, options);
    this.store = createClient(bus, StoreServiceDefinition, options);
  }

  /** Starts a replica; resolves at once. */
  start(instance: string, args: readonly string[] = []): ManagedProcess {
    const seeds = this.isSecured ? seedsOf(this) : [];
    const replica = startService("lease-store", {
      args: [
        "--mode=development",
        ...seeds,
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
  const bus = await connectTest(nats);
  await createStreams(bus, { replicas: 1, partitions: 8, clock: systemClock });
  return startReplicas(new Deployment(nats, bus), replicas, args);
}

/** The same with the users and permissions of a real deployment; the test is the gateway. */
export async function startSecuredDeployment(replicas: number, args: readonly string[] = []): Promise<Deployment> {
  const nats = await startNats({ config: "provisioned" });
  {
    await using provision = await connectTest(nats, "provision");
    await createStreams(provision, { replicas: 1, partitions: 8, clock: systemClock });
  }
  return startReplicas(new Deployment(nats, await connectTest(nats, "gateway"), true), replicas, args);
}

/** How a replica of a secured deployment signs in. */
function seedsOf({ nats }: Deployment): readonly string[] {
  return [
    `--nats-nkey-file=${nats.nkeyFile("lease-store")}`,
    `--nats-system-nkey-file=${nats.nkeyFile("system")}`,
    `--compactor-nkey-file=${nats.nkeyFile("compactor")}`,
  ];
}

async function startReplicas(deployment: Deployment, count: number, args: readonly string[]): Promise<Deployment> {
  for (let number = 1; number <= count; number += 1) deployment.start(`store-${number}`, args);
  await deployment.ready();
  return deployment;
}
