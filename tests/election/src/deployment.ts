import { type Bus, connectBus, createClient, inboxPrefixOf } from "@tenure/bus";
import { CandidateServiceDefinition, ElectionServiceDefinition, LeaseServiceDefinition } from "@tenure/contracts";
import { systemClock, systemRandom } from "@tenure/kernel";
import { createStreams } from "@tenure/log";
import { watchPresence } from "@tenure/runtime";
import { connect, type Tenure } from "@tenure/sdk";
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

/** A third of the defaults: fast enough for tests, slow enough for a busy machine. */
export const timing = { leaseDuration: "5s" } as const;

/** A NATS server, a lease store, election services and gateways, each a process of its own. */
export class Deployment implements AsyncDisposable {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly elections: ReturnType<typeof createClient<typeof ElectionServiceDefinition>>;
  readonly leases: ReturnType<typeof createClient<typeof LeaseServiceDefinition>>;
  readonly candidates: ReturnType<typeof createClient<typeof CandidateServiceDefinition>>;
  readonly processes = new Map<string, ManagedProcess>();
  readonly #presence: ReturnType<typeof watchPresence>;

  constructor(nats: NatsServer, bus: Bus) {
    this.nats = nats;
    this.bus = bus;
    const options = { principal: "operator", deadlineMs: 20_000 };
    this.elections = createClient(bus, ElectionServiceDefinition, options);
    this.leases = createClient(bus, LeaseServiceDefinition, options);
    this.candidates = createClient(bus, CandidateServiceDefinition, options);
    this.#presence = watchPresence(bus, systemClock, () => {});
  }

  /** Starts a service; resolves at once. */
  start(service: string, instance: string, args: readonly string[] = []): ManagedProcess {
    const common = ["--mode=development", `--nats-url=${this.nats.url}`, `--instance=${instance}`, "--http-port=0"];
    const own: Readonly<Record<string, readonly string[]>> = { gateway: ["--grpc-port=0"] };
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

  /** Connects a client through a gateway, as a process of its own would. */
  connect(identity: string, gateway = "gateway-1"): Promise<Tenure> {
    const options = { namespace: "tests", timing, connectTimeout: "60s", callTimeout: "20s" } as const;
    return connect({ endpoint: this.grpc(gateway), identity, renewal: "inline", ...options });
  }

  /** `host:port` of a gateway's gRPC. */
  grpc(instance: string): string {
    const found = this.#presence.instances.find((one) => one.instance === instance);
    if (found === undefined || found.grpcAddress === "") throw new Error(`gateway ${instance} does not listen yet`);
    return found.grpcAddress;
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
  readonly elections?: number;
  readonly electionArgs?: readonly string[];
}

/** Starts NATS, runs `init`, and starts a lease store, a gateway and election services `election-1`…. */
export async function startDeployment({ electionArgs = [], elections = 1 }: DeploymentShape = {}): Promise<Deployment> {
  const nats = await startNats();
  const bus = await connectTest(nats.url);
  await createStreams(bus, { replicas: 1, partitions: 8, clock: systemClock });
  const deployment = new Deployment(nats, bus);
  deployment.start("lease-store", "store-1");
  deployment.start("gateway", "gateway-1");
  for (let number = 1; number <= elections; number += 1) {
    deployment.start("election", `election-${number}`, electionArgs);
  }
  await deployment.ready();
  return deployment;
}
