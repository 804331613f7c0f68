import { type Bus, connectBus, createClient, inboxPrefixOf } from "@tenure/bus";
import { IdentityServiceDefinition, LeaseServiceDefinition } from "@tenure/contracts";
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

/** Short enough for tests, long enough for a busy machine: silent after 3 s, expired after 6 s, collected a second later. */
export const short = { beatMs: 1_000, validityMs: 6_000, graceMs: 1_000, settleMs: 2_000, collectorLeaseMs: 4_000 };

/** Arguments of the identity service with the short settings. */
export const shortArgs: readonly string[] = [
  `--beat-interval=${short.beatMs}ms`,
  "--minimum-beat-interval=100ms",
  `--validity=${short.validityMs}ms`,
  `--collection-grace=${short.graceMs}ms`,
  "--collection-resync=500ms",
  `--collection-settle=${short.settleMs}ms`,
  `--collector-lease-duration=${short.collectorLeaseMs}ms`,
];

/** A NATS server, a lease store, identity services and gateways, each a process of its own. */
export class Deployment implements AsyncDisposable {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly identities: ReturnType<typeof createClient<typeof IdentityServiceDefinition>>;
  readonly leases: ReturnType<typeof createClient<typeof LeaseServiceDefinition>>;
  readonly processes = new Map<string, ManagedProcess>();
  readonly #presence: ReturnType<typeof watchPresence>;

  constructor(nats: NatsServer, bus: Bus) {
    this.nats = nats;
    this.bus = bus;
    this.identities = createClient(bus, IdentityServiceDefinition);
    this.leases = createClient(bus, LeaseServiceDefinition);
    this.#presence = watchPresence(bus, systemClock, () => {});
  }

  /** Starts a service; resolves at once. */
  start(service: string, instance: string, args: readonly string[] = []): ManagedProcess {
    const common = ["--mode=development", `--nats-url=${this.nats.url}`, `--instance=${instance}`, "--http-port=0"];
    const own: Readonly<Record<string, readonly string[]>> = {
      gateway: ["--grpc-port=0"],
      "lease-store": ["--minimum-lease-duration=500ms"],
    };
    const started = startService(service, { args: [...common, ...(own[service] ?? []), ...args] });
    this.processes.set(instance, started);
    return started;
  }

  /** Waits until every process is ready; a gateway need only listen. */
  async ready(): Promise<void> {
    const isThere = (name: string) =>
      this.#presence.instances.some(
        ({ grpcAddress, instance, ready }) => instance === name && (ready || grpcAddress !== ""),
      );
    const names = () => [...this.processes.keys()];
    const isOver = () => names().some((name) => this.process(name).exit !== undefined);
    await waitFor(() => isOver() || names().every(isThere), { timeoutMs: 60_000 }).catch(() => {});
    const missing = names().filter((name) => !isThere(name));
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

  /** Where an instance answers HTTP. */
  http(instance: string): string {
    const found = this.#presence.instances.find((one) => one.instance === instance);
    if (found === undefined) throw new Error(`${instance} was not heard of`);
    return found.httpAddress;
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

/** What is started. */
export interface DeploymentShape {
  readonly identities?: number;
  readonly gateways?: number;
  readonly identityArgs?: readonly string[];
}

/** Starts NATS, runs `init`, and starts a lease store, identity services `identity-1`… and gateways `gateway-1`…. */
export async function startDeployment(shape: DeploymentShape = {}): Promise<Deployment> {
  const { gateways = 0, identities = 1, identityArgs = shortArgs } = shape;
  const nats = await startNats();
  const bus = await connectTest(nats.url);
  await createStreams(bus, { replicas: 1, partitions: 8, clock: systemClock });
  const deployment = new Deployment(nats, bus);
  deployment.start("lease-store", "store-1");
  for (let number = 1; number <= identities; number += 1) {
    deployment.start("identity", `identity-${number}`, identityArgs);
  }
  for (let number = 1; number <= gateways; number += 1) deployment.start("gateway", `gateway-${number}`);
  await deployment.ready();
  return deployment;
}
