import { connectBus, inboxPrefixOf } from "@tenure/bus";
import { systemClock, systemRandom } from "@tenure/kernel";
import { createStreams } from "@tenure/log";
import { type ConnectOptions, connect, type Tenure } from "@tenure/sdk";
import { freePort, type ManagedProcess, type NatsServer, startNats, startService } from "@tenure/testkit";

/** The two ways to the service that the suite runs over. */
export const ways = ["grpc", "nats"] as const;
export type Way = (typeof ways)[number];

/** A third of the defaults: fast enough for tests, slow enough for a busy machine. */
export const timing = { leaseDuration: "5s" } as const;

/** NATS, a lease store and a gateway as processes. */
export class Deployment implements AsyncDisposable {
  readonly nats: NatsServer;
  readonly endpoint: string;
  readonly #processes = new Map<string, ManagedProcess>();
  readonly #grpcPort: number;

  constructor(nats: NatsServer, grpcPort: number) {
    this.nats = nats;
    this.#grpcPort = grpcPort;
    this.endpoint = `127.0.0.1:${grpcPort}`;
  }

  /** Starts a service. */
  start(service: "lease-store" | "gateway" | "election", args: readonly string[] = []): ManagedProcess {
    const common = ["--mode=development", `--nats-url=${this.nats.url}`, "--http-port=0"];
    const port = service === "gateway" ? [`--grpc-port=${this.#grpcPort}`] : [];
    const started = startService(service, { args: [...common, ...port, ...args] });
    this.#processes.set(`${service} ${started.pid}`, started);
    return started;
  }

  /** The process of a service that was started last. */
  running(service: "lease-store" | "gateway"): ManagedProcess {
    const found = [...this.#processes.values()].findLast(({ name }) => name === service);
    if (found === undefined) throw new Error(`no ${service} was started`);
    return found;
  }

  /** Connects a client; waits for the deployment to come up. */
  connect(way: Way, options: Partial<ConnectOptions> = {}): Promise<Tenure> {
    const common = { namespace: "tests", timing, connectTimeout: "60s", callTimeout: "20s", ...options };
    if (way === "nats") return connect({ nats: { servers: [this.nats.url] }, ...common });
    return connect({ endpoint: this.endpoint, ...common });
  }

  /** Waits until a lock can be taken through the gateway; fails at once when a process has ended. */
  async ready(): Promise<void> {
    const fallen = Promise.race(
      [...this.#processes.values()].map(async (one) => {
        await one.ended;
        throw new Error(`${one.name} ended:\n${one.output.tail()}`);
      }),
    );
    await Promise.race([this.#takeLock(), fallen]);
    fallen.catch(() => undefined);
  }

  async #takeLock(): Promise<void> {
    await using tenure = await this.connect("grpc", { renewal: "inline" });
    await using lock = await tenure.lock("ready");
    lock.check();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#processes.values()].map((one) => one[Symbol.asyncDispose]()));
    await this.nats[Symbol.asyncDispose]();
  }
}

/** Starts NATS, runs `init`, and starts a lease store and a gateway. */
export async function startDeployment(): Promise<Deployment> {
  const nats = await startNats();
  const deployment = new Deployment(nats, await freePort());
  {
    await using bus = await connectBus({
      servers: [nats.url],
      name: "test",
      inboxPrefix: inboxPrefixOf("test"),
      clock: systemClock,
      random: systemRandom,
      connectTimeoutMs: 10_000,
    });
    await createStreams(bus, { replicas: 1, partitions: 8, clock: systemClock });
  }
  deployment.start("lease-store");
  deployment.start("gateway");
  await deployment.ready();
  return deployment;
}
