import { type Bus, type Client, createClient, type ServiceDefinition } from "@tenure/bus";
import {
  CandidateServiceDefinition,
  ElectionServiceDefinition,
  GuardServiceDefinition,
  IdentityServiceDefinition,
  LeaseServiceDefinition,
  MigrationServiceDefinition,
  type ServiceStatus,
  StoreServiceDefinition,
} from "@tenure/contracts";
import { systemClock } from "@tenure/kernel";
import type { Incarnation } from "@tenure/log";
import { type PresenceWatch, watchPresence } from "@tenure/runtime";
import type { DeploymentShape, ServiceName } from "./deployment-shape.ts";
import { freePort } from "./free-port.ts";
import type { ManagedProcess } from "./managed-process.ts";
import type { NatsServer } from "./nats-server.ts";
import { startService } from "./service.ts";
import { waitFor } from "./wait-for.ts";

/** What a deployment is made of before its first service runs. */
export interface DeploymentParts {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly incarnation: Incarnation;
  readonly shape: DeploymentShape;
}

/** NATS with its streams and our services, each a process of its own, and the test's own connection and clients. */
export class Deployment implements AsyncDisposable {
  readonly nats: NatsServer;
  /** The connection of the test itself. */
  readonly bus: Bus;
  readonly leases: Client<typeof LeaseServiceDefinition>;
  readonly candidates: Client<typeof CandidateServiceDefinition>;
  readonly guards: Client<typeof GuardServiceDefinition>;
  readonly identities: Client<typeof IdentityServiceDefinition>;
  readonly elections: Client<typeof ElectionServiceDefinition>;
  readonly migrations: Client<typeof MigrationServiceDefinition>;
  readonly store: Client<typeof StoreServiceDefinition>;
  /** What was started last under each instance's name. */
  readonly processes = new Map<string, ManagedProcess>();
  readonly #shape: DeploymentShape;
  readonly #grpcPorts = new Map<string, number>();
  readonly #presence: PresenceWatch;

  constructor({ bus, nats, shape }: DeploymentParts) {
    this.nats = nats;
    this.bus = bus;
    this.#shape = shape;
    this.#presence = watchPresence(bus, systemClock, () => {});
    const options = { principal: "test", deadlineMs: 20_000, ...shape.calls };
    const clientOf = <Definition extends ServiceDefinition>(definition: Definition) =>
      createClient(bus, definition, options);
    this.leases = clientOf(LeaseServiceDefinition);
    this.candidates = clientOf(CandidateServiceDefinition);
    this.guards = clientOf(GuardServiceDefinition);
    this.identities = clientOf(IdentityServiceDefinition);
    this.elections = clientOf(ElectionServiceDefinition);
    this.migrations = clientOf(MigrationServiceDefinition);
    this.store = clientOf(StoreServiceDefinition);
  }

  /**
   * Starts an instance, or starts it again: a gateway keeps its port. With the shape's arguments of the service unless
   * others are given. Resolves when the process runs: see {@link ready}.
   */
  async start(
    service: ServiceName,
    instance: string,
    args = this.#shape.args?.[service] ?? [],
  ): Promise<ManagedProcess> {
    const port = service === "gateway" ? [`--grpc-port=${await this.#grpcPortOf(instance)}`] : [];
    const common = ["--mode=development", `--nats-url=${this.nats.url}`, `--instance=${instance}`, "--http-port=0"];
    const short = service === "lease-store" ? ["--minimum-lease-duration=500ms"] : [];
    const started = startService(service, { args: [...common, ...port, ...short, ...this.#seedsOf(service), ...args] });
    this.processes.set(instance, started);
    return started;
  }

  /**
   * Waits until everything that was started and not stopped is ready; a gateway need only listen, because its readiness
   * is that of the whole system. Throws with the last lines of what ended by itself or is late.
   */
  async ready(timeoutMs = 120_000): Promise<void> {
    const wanted = [...this.processes].filter(([, { exit }]) => exit?.signal == null && exit?.code !== 0);
    const isOver = () => wanted.some(([, { exit }]) => exit !== undefined);
    const missing = () => wanted.filter(([name, process]) => !this.#isThere(name, process));
    await waitFor(() => isOver() || missing().length === 0, { timeoutMs }).catch(() => undefined);
    const late = missing();
    if (late.length === 0) return;
    const output = late.map(([name, process]) => `${name} did not get ready:\n${process.output.tail()}`);
    throw new Error(output.join("\n"));
  }

  /** `host:port` of a gateway's gRPC; the same when it is started again. */
  grpc(instance = "gateway-1"): string {
    const port = this.#grpcPorts.get(instance);
    if (port === undefined) throw new Error(`no gateway ${instance} was started`);
    return `127.0.0.1:${port}`;
  }

  /** Where an instance that runs answers HTTP. */
  http(instance: string): string {
    const found = this.#presence.instances.find((one) => one.instance === instance);
    if (found === undefined) throw new Error(`${instance} was not heard of`);
    return found.httpAddress;
  }

  /** Who owns a partition, as the lease stores tell; empty when nobody does. */
  ownerOf(partition: number): string {
    const told = this.#presence.instances.flatMap(({ partitions }) =>
      partitions.filter((one) => one.partition === partition),
    );
    return told.toSorted((left, right) => Number(right.epoch - left.epoch))[0]?.owner ?? "";
  }

  /** The process of an instance. */
  process(instance: string): ManagedProcess {
    const found = this.processes.get(instance);
    if (found === undefined) throw new Error(`no process ${instance} was started`);
    return found;
  }

  /** The instances of a service that run. */
  running(service: ServiceName): readonly string[] {
    return [...this.processes].flatMap(([instance, { exit, name }]) =>
      name === service && exit === undefined ? [instance] : [],
    );
  }

  /** Ends a process at once, as a crash does, and forgets it. */
  async kill(instance: string): Promise<void> {
    await this.process(instance).kill9();
    this.processes.delete(instance);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.processes.values()].map((one) => one[Symbol.asyncDispose]()));
    this.#presence[Symbol.dispose]();
    await this.bus.drain();
    await this.nats[Symbol.asyncDispose]();
  }

  async #grpcPortOf(instance: string): Promise<number> {
    const port = this.#grpcPorts.get(instance) ?? (await freePort());
    this.#grpcPorts.set(instance, port);
    return port;
  }

  /** How a service of a secured deployment signs in. */
  #seedsOf(service: ServiceName): readonly string[] {
    if (this.#shape.isSecured !== true) return [];
    const own = [
      `--nats-nkey-file=${this.nats.nkeyFile(service)}`,
      `--nats-system-nkey-file=${this.nats.nkeyFile("system")}`,
    ];
    return service === "lease-store" ? [...own, `--compactor-nkey-file=${this.nats.nkeyFile("compactor")}`] : own;
  }

  #isThere(name: string, process: ManagedProcess): boolean {
    return this.#presence.instances.some(
      (status) =>
        status.instance === name &&
        startedAtMs(status) >= process.startedAtMs &&
        (status.ready || status.grpcAddress !== ""),
    );
  }
}

/** When an instance says that its process began, in milliseconds of the wall clock. */
function startedAtMs({ startedAt }: ServiceStatus): number {
  return startedAt === undefined ? 0 : Number(startedAt.seconds) * 1_000 + startedAt.nanos / 1_000_000;
}
