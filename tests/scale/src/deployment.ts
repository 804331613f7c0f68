import { type Bus, connectBus, inboxPrefixOf } from "@tenure/bus";
import { systemClock, systemRandom } from "@tenure/kernel";
import { createStreams } from "@tenure/log";
import { watchPresence } from "@tenure/runtime";
import { freePort, type ManagedProcess, type NatsServer, startNats, startService, waitFor } from "@tenure/testkit";

/** What is started, and with which settings beside the common ones. */
export interface DeploymentOptions {
  readonly stores?: number;
  readonly gateways?: number;
  readonly storeArgs?: readonly string[];
  readonly gatewayArgs?: readonly string[];
}

type ServiceName = "lease-store" | "gateway";

/** NATS, lease stores `store-1`… and gateways `gateway-1`…, each a process of its own. A gateway keeps its port. */
export class Deployment implements AsyncDisposable {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly #options: DeploymentOptions;
  readonly #ports = new Map<string, number>();
  readonly #processes = new Map<string, ManagedProcess>();
  readonly #presence: ReturnType<typeof watchPresence>;

  constructor(nats: NatsServer, bus: Bus, options: DeploymentOptions) {
    this.nats = nats;
    this.bus = bus;
    this.#options = options;
    this.#presence = watchPresence(bus, systemClock, () => {});
  }

  /** `host:port` of every gateway. */
  get endpoints(): readonly string[] {
    return [...this.#ports.values()].map((port) => `127.0.0.1:${port}`);
  }

  /** `host:port` of a gateway. */
  endpoint(instance: string): string {
    return `127.0.0.1:${this.#ports.get(instance)}`;
  }

  /** Starts a service, or starts it again. Resolves when its process runs, not when it is ready. */
  async start(service: ServiceName, instance: string): Promise<ManagedProcess> {
    const common = ["--mode=development", `--nats-url=${this.nats.url}`, `--instance=${instance}`, "--http-port=0"];
    const started = startService(service, { args: [...common, ...(await this.#ownArgs(service, instance))] });
    this.#processes.set(instance, started);
    return started;
  }

  /** Resolves when the instances that run are ready. Throws with their last lines when one of them ends or is late. */
  async ready(): Promise<void> {
    const running = [...this.#processes].filter(([, process]) => process.exit === undefined).map(([name]) => name);
    // A gateway serves what there is: it counts from when it listens.
    const isThere = (name: string) =>
      this.#presence.instances.some((one) => one.instance === name && (one.ready || one.grpcAddress !== ""));
    const isOver = () => running.some((name) => this.process(name).exit !== undefined);
    await waitFor(() => isOver() || running.every(isThere), { timeoutMs: 120_000 }).catch(() => {});
    const missing = running.filter((name) => !isThere(name));
    if (missing.length === 0) return;
    const output = missing.map((name) => this.process(name).output.tail());
    throw new Error(`${missing.join(", ")} did not get ready:\n${output.join("\n")}`);
  }

  /** Who owns a partition, as the lease stores tell; empty when nobody does. */
  ownerOf(partition: number): string {
    const told = this.#presence.instances.flatMap(({ partitions }) =>
      partitions.filter((one) => one.partition === partition),
    );
    return told.toSorted((left, right) => Number(right.epoch - left.epoch))[0]?.owner ?? "";
  }

  /** The process of an instance that was started. */
  process(instance: string): ManagedProcess {
    const found = this.#processes.get(instance);
    if (found === undefined) throw new Error(`no process ${instance} was started`);
    return found;
  }

  /** The instances of a service that run. */
  running(service: ServiceName): readonly string[] {
    const all = [...this.#processes].filter(([, process]) => process.name === service && process.exit === undefined);
    return all.map(([instance]) => instance);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#processes.values()].map((one) => one[Symbol.asyncDispose]()));
    this.#presence[Symbol.dispose]();
    await this.bus.drain();
    await this.nats[Symbol.asyncDispose]();
  }

  async #ownArgs(service: ServiceName, instance: string): Promise<readonly string[]> {
    if (service === "lease-store") return this.#options.storeArgs ?? [];
    const port = this.#ports.get(instance) ?? (await freePort());
    this.#ports.set(instance, port);
    return [`--grpc-port=${port}`, ...(this.#options.gatewayArgs ?? [])];
  }
}

/** Starts NATS, runs `init`, starts the services and waits until all are ready. */
export async function startDeployment(options: DeploymentOptions = {}): Promise<Deployment> {
  const nats = await startNats();
  const bus = await connectBus({
    servers: [nats.url],
    name: "test",
    inboxPrefix: inboxPrefixOf("test"),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
  await createStreams(bus, { replicas: 1, partitions: 8, clock: systemClock });
  const deployment = new Deployment(nats, bus, options);
  const { gateways = 1, stores = 1 } = options;
  for (let number = 1; number <= stores; number += 1) await deployment.start("lease-store", `store-${number}`);
  for (let number = 1; number <= gateways; number += 1) await deployment.start("gateway", `gateway-${number}`);
  await deployment.ready();
  return deployment;
}
