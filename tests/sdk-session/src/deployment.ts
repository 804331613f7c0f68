import { type Bus, connectBus, inboxPrefixOf } from "@tenure/bus";
import { systemClock, systemRandom } from "@tenure/kernel";
import { createStreams } from "@tenure/log";
import { openSession, type Session, type SessionOptions } from "@tenure/sdk/session";
import { freePort, type ManagedProcess, type NatsServer, startNats, startService } from "@tenure/testkit";

/** The two ways to the service that every test of the suite runs over. */
export const ways = ["nats", "grpc"] as const;
export type Way = (typeof ways)[number];

/** NATS, lease stores and a gateway as processes. */
export class Deployment implements AsyncDisposable {
  readonly nats: NatsServer;
  readonly grpcPort: number;
  readonly stores = new Map<string, ManagedProcess>();
  gateway: ManagedProcess | undefined;

  constructor(nats: NatsServer, grpcPort: number) {
    this.nats = nats;
    this.grpcPort = grpcPort;
  }

  startStore(instance: string): ManagedProcess {
    const store = startService("lease-store", {
      args: [...this.#common(instance), "--minimum-lease-duration=500ms"],
    });
    this.stores.set(instance, store);
    return store;
  }

  startGateway(instance: string): ManagedProcess {
    this.gateway = startService("gateway", { args: [...this.#common(instance), `--grpc-port=${this.grpcPort}`] });
    return this.gateway;
  }

  /** Opens a session over one of the ways. */
  open(way: Way, options: Partial<SessionOptions> = {}): Promise<Session> {
    const timing = { beatIntervalMs: 200, requestTimeoutMs: 1_000, connectTimeoutMs: 30_000, callTimeoutMs: 20_000 };
    const common = { renewal: "inline", ...timing, ...options } as const;
    if (way === "nats") return openSession({ nats: { servers: [this.nats.url], principal: "tester" }, ...common });
    return openSession({ grpc: { endpoints: [`127.0.0.1:${this.grpcPort}`] }, ...common });
  }

  /** A connection of the test's own. */
  connect(): Promise<Bus> {
    return connectTest(this.nats);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.stores.values(), this.gateway].map((one) => one?.[Symbol.asyncDispose]()));
    await this.nats[Symbol.asyncDispose]();
  }

  #common(instance: string): readonly string[] {
    return ["--mode=development", `--nats-url=${this.nats.url}`, `--instance=${instance}`, "--http-port=0"];
  }
}

/** Starts NATS, runs `init`, and starts lease stores and a gateway. */
export async function startDeployment(stores: number): Promise<Deployment> {
  const nats = await startNats();
  const deployment = new Deployment(nats, await freePort());
  {
    await using bus = await deployment.connect();
    await createStreams(bus, { replicas: 1, partitions: 8, clock: systemClock });
  }
  for (let number = 1; number <= stores; number += 1) deployment.startStore(`store-${number}`);
  deployment.startGateway("gateway-1");
  return deployment;
}

function connectTest(nats: NatsServer): Promise<Bus> {
  return connectBus({
    servers: [nats.url],
    name: "test",
    inboxPrefix: inboxPrefixOf("test"),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 10_000,
  });
}
