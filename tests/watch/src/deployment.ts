import { type Bus, type Client, connectBus, createClient, inboxPrefixOf } from "@tenure/bus";
import { CandidateServiceDefinition, LeaseServiceDefinition } from "@tenure/contracts";
import { systemClock, systemRandom } from "@tenure/kernel";
import { createStreams, type Incarnation, JetStreamSnapshotStore, JetStreamTransport } from "@tenure/log";
import { LogReader, logDecoder } from "@tenure/reader";
import { watchPresence } from "@tenure/runtime";
import { type ManagedProcess, type NatsServer, startNats, startService, waitFor } from "@tenure/testkit";

/** A NATS server, lease-store replicas as processes, a reader of the log in this process, and clients. */
export class Deployment implements AsyncDisposable {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly leases: Client<typeof LeaseServiceDefinition>;
  readonly candidates: Client<typeof CandidateServiceDefinition>;
  readonly replicas = new Map<string, ManagedProcess>();
  readonly reader: LogReader;
  readonly #presence: ReturnType<typeof watchPresence>;
  readonly #transport: JetStreamTransport;
  readonly #snapshots: JetStreamSnapshotStore;

  constructor(nats: NatsServer, bus: Bus, incarnation: Incarnation) {
    this.nats = nats;
    this.bus = bus;
    this.#presence = watchPresence(bus, systemClock, () => {});
    // Short, because a caller of a replica that was killed waits for it; every change is tried again.
    const options = { principal: "test", deadlineMs: 3_000 };
    this.leases = createClient(bus, LeaseServiceDefinition, options);
    this.candidates = createClient(bus, CandidateServiceDefinition, options);
    const clock = systemClock;
    const random = systemRandom;
    this.#transport = new JetStreamTransport({ control: bus, clock, random });
    this.#snapshots = new JetStreamSnapshotStore({ bus, clock, random });
    const ports = { clock, random, transport: this.#transport, snapshots: this.#snapshots, codec: logDecoder };
    const { id: incarnationId, partitions } = incarnation;
    this.reader = new LogReader(ports, { incarnationId, partitions, keptChanges: 10_000 });
  }

  /** Starts a replica; resolves at once. */
  start(instance: string, args: readonly string[] = []): void {
    const common = ["--mode=development", `--nats-url=${this.nats.url}`, `--instance=${instance}`, "--http-port=0"];
    this.replicas.set(instance, startService("lease-store", { args: [...common, ...args] }));
  }

  /** Waits until every replica and the reader are ready. */
  async ready(): Promise<void> {
    const isReady = (name: string) =>
      this.#presence.instances.some(({ instance, ready }) => instance === name && ready);
    const isAll = () => this.reader.isReady && [...this.replicas.keys()].every(isReady);
    await waitFor(isAll, { describe: "every replica to be ready", timeoutMs: 60_000 });
  }

  /** The replica that owns a partition, by what the log says. */
  ownerOf(partition: number): string {
    return this.reader.stateOf(partition).owner;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.replicas.values()].map((replica) => replica[Symbol.asyncDispose]()));
    await this.reader[Symbol.asyncDispose]();
    this.#snapshots[Symbol.dispose]();
    this.#transport[Symbol.dispose]();
    this.#presence[Symbol.dispose]();
    await this.bus.drain();
    await this.nats[Symbol.asyncDispose]();
  }
}

/** Starts NATS, runs `init`, and starts replicas named `store-1` and so on. */
export async function startDeployment(replicas: number, args: readonly string[] = []): Promise<Deployment> {
  const nats = await startNats();
  const bus = await connectBus({
    servers: [nats.url],
    name: "test",
    inboxPrefix: inboxPrefixOf("test"),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
  const incarnation = await createStreams(bus, { replicas: 1, partitions: 4, clock: systemClock });
  const deployment = new Deployment(nats, bus, incarnation);
  for (let number = 1; number <= replicas; number += 1) deployment.start(`store-${number}`, args);
  await deployment.reader.start();
  await deployment.ready();
  return deployment;
}
