import { type Bus, connectBus, inboxPrefixOf } from "@tenure/bus";
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

/** A NATS server, lease stores and gateways, each a process of its own. */
export class Deployment implements AsyncDisposable {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly processes = new Map<string, ManagedProcess>();
  readonly #presence: ReturnType<typeof watchPresence>;

  constructor(nats: NatsServer, bus: Bus) {
    this.nats = nats;
    this.bus = bus;
    this.#presence = watchPresence(bus, systemClock, () => {});
  }

  /** Starts a service; resolves at once. */
  start(service: string, instance: string, args: readonly string[] = []): ManagedProcess {
    const common = ["--mode=development", `--nats-url=${this.nats.url}`, `--instance=${instance}`, "--http-port=0"];
    const own = service === "gateway" ? ["--grpc-port=0"] : ["--minimum-lease-duration=500ms"];
    const started = startService(service, { args: [...common, ...own, ...args] });
    this.processes.set(instance, started);
    return started;
  }

  /** Waits until every lease store is ready and every gateway listens. */
  async ready(): Promise<void> {
    const instances = [...this.processes.keys()];
    const isThere = (name: string) =>
      this.#presence.instances.some(
        ({ grpcAddress, instance, ready }) => instance === name && (ready || grpcAddress !== ""),
      );
    const isOver = () => instances.some((name) => this.process(name).exit !== undefined);
    await waitFor(() => isOver() || instances.every(isThere), { timeoutMs: 60_000 }).catch(() => {});
    const missing = instances.filter((name) => !isThere(name));
    if (missing.length === 0) return;
    const output = missing.flatMap((name) => this.process(name).output.all.slice(-20));
    throw new Error(`${missing.join(", ")} did not get ready:\n${output.join("\n")}`);
  }

  /** `host:port` of a gateway's gRPC. */
  grpc(instance: string): string {
    const found = this.#presence.instances.find((one) => one.instance === instance);
    if (found === undefined || found.grpcAddress === "") throw new Error(`gateway ${instance} does not listen yet`);
    return found.grpcAddress;
  }

  /** Who owns a partition, as the lease stores tell. */
  ownerOf(partition: number): string {
    const told = this.#presence.instances.flatMap(({ partitions }) =>
      partitions.filter((one) => one.partition === partition),
    );
    return told.toSorted((left, right) => Number(right.epoch - left.epoch))[0]?.owner ?? "";
  }

  /** Ends a process at once, as a crash does. */
  async kill(instance: string): Promise<void> {
    await this.process(instance).kill9();
    this.processes.delete(instance);
  }

  /** The process of an instance. */
  process(instance: string): ManagedProcess {
    const found = this.processes.get(instance);
    if (found === undefined) throw new Error(`no process ${instance} was started`);
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.processes.values()].map((one) => one[Symbol.asyncDispose]()));
    this.#presence[Symbol.dispose]();
    await this.bus.drain();
    await this.nats[Symbol.asyncDispose]();
  }
}

/** Starts NATS, runs `init`, and starts lease stores `store-1`… and gateways `gateway-1`…. */
export async function startDeployment(
  { gateways = 1, stores = 1 },
  gatewayArgs: readonly string[] = [],
): Promise<Deployment> {
  const nats = await startNats();
  const bus = await connectTest(nats.url);
  await createStreams(bus, { replicas: 1, partitions: 8, clock: systemClock });
  const deployment = new Deployment(nats, bus);
  for (let number = 1; number <= stores; number += 1) deployment.start("lease-store", `store-${number}`);
  for (let number = 1; number <= gateways; number += 1) deployment.start("gateway", `gateway-${number}`, gatewayArgs);
  await deployment.ready();
  return deployment;
}
