import { fileURLToPath } from "node:url";
import { type Bus, type Client, connectBus, createClient, inboxPrefixOf } from "@tenure/bus";
import { LeaseServiceDefinition, StoreServiceDefinition } from "@tenure/contracts";
import { systemClock, systemRandom } from "@tenure/kernel";
import { nodeOptions } from "@tenure/launcher";
import { createStreams } from "@tenure/log";
import { freePort, type ManagedProcess, type NatsServer, startNats, startProcess, waitFor } from "@tenure/testkit";

/** The service as it is built; the path is the same from `src` and from `dist`. */
const leaseStore = fileURLToPath(new URL("../../../../services/lease-store/dist/main.js", import.meta.url));

/** How a deployment of lease stores alone is started. */
export interface StoreDeploymentOptions {
  readonly partitions?: number;
  /** More flags for every replica. */
  readonly args?: readonly string[];
  /** Options of Node.js for every replica, for example `--cpu-prof` to see what a figure is made of. */
  readonly nodeOptions?: readonly string[];
}

/** One lease-store process and where it answers over HTTP. */
export interface Replica {
  readonly process: ManagedProcess;
  readonly httpUrl: string;
}

/**
 * A NATS server that syncs every write, and lease-store processes, without the other services: what measures the store
 * itself. The caller speaks to it over the bus.
 */
export class StoreDeployment implements AsyncDisposable {
  readonly partitions: number;
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly leases: Client<typeof LeaseServiceDefinition>;
  readonly store: Client<typeof StoreServiceDefinition>;
  readonly #args: readonly string[];
  readonly #nodeOptions: readonly string[];
  readonly #replicas: Replica[] = [];

  constructor(nats: NatsServer, bus: Bus, { args = [], nodeOptions = [], partitions = 8 }: StoreDeploymentOptions) {
    this.nats = nats;
    this.bus = bus;
    this.partitions = partitions;
    this.#args = args;
    this.#nodeOptions = nodeOptions;
    const options = { principal: "bench", deadlineMs: 30_000 };
    this.leases = createClient(bus, LeaseServiceDefinition, options);
    this.store = createClient(bus, StoreServiceDefinition, options);
  }

  /** Starts a replica and resolves when it is ready, with how long that took from the start of the process. */
  async start(args: readonly string[] = []): Promise<Replica & { readonly readyMs: number }> {
    const port = await freePort();
    const startedAtMs = systemClock.now();
    const replicaProcess = startProcess(process.execPath, {
      name: "lease-store",
      args: [
        ...nodeOptions,
        ...this.#nodeOptions,
        leaseStore,
        "--mode=development",
        "--log-level=warn",
        `--nats-url=${this.nats.url}`,
        `--instance=store-${this.#replicas.length + 1}`,
        `--http-port=${port}`,
        "--minimum-lease-duration=500ms",
        "--maximum-lease-duration=1d",
        ...this.#args,
        ...args,
      ],
    });
    const replica = { process: replicaProcess, httpUrl: `http://127.0.0.1:${port}` };
    this.#replicas.push(replica);
    const isOver = async () => replicaProcess.exit !== undefined || (await isReady(replica));
    await waitFor(isOver, { describe: "a replica to be ready", timeoutMs: 120_000, intervalMs: 20 });
    if (replicaProcess.exit !== undefined) throw new Error(`lease-store ended: ${replicaProcess.output.tail()}`);
    return { ...replica, readyMs: systemClock.now() - startedAtMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#replicas.map(({ process }) => process[Symbol.asyncDispose]()));
    await this.bus.drain();
    await this.nats[Symbol.asyncDispose]();
  }
}

/** Starts NATS and runs `init`. Replicas are started by the caller. */
export async function startStoreDeployment(options: StoreDeploymentOptions = {}): Promise<StoreDeployment> {
  const nats = await startNats();
  const bus = await connectBus({
    servers: [nats.url],
    name: "bench",
    inboxPrefix: inboxPrefixOf("bench"),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
  await createStreams(bus, { replicas: 1, partitions: options.partitions ?? 8, clock: systemClock });
  return new StoreDeployment(nats, bus, options);
}

async function isReady({ httpUrl }: Replica): Promise<boolean> {
  const answer = await fetch(`${httpUrl}/readyz`).catch(() => undefined);
  return answer?.status === 200;
}
