import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { accountsFor } from "./nats-accounts.ts";
import { natsBinary } from "./nats-binary.ts";
import { type NatsOptions, NatsServer, retryOnTakenPort } from "./nats-server.ts";
import { tempDirectory } from "./temp-directory.ts";
import { waitFor } from "./wait-for.ts";

/** How the members of a cluster are started. */
export type NatsClusterOptions = Pick<NatsOptions, "version" | "config" | "accounts" | "extraConfig">;

/** A JetStream cluster of real servers; each member can be paused, killed and restarted on its own. */
export interface NatsCluster extends AsyncDisposable {
  readonly servers: readonly NatsServer[];
  /** One address per member, for a client's list of servers. */
  readonly urls: readonly string[];
  /** The same for the system account. */
  readonly systemUrls: readonly string[];
  /** Returns when all running members agree on a leader of the meta group and each is healthy; gives the leader. */
  waitUntilReady(timeoutMs?: number): Promise<NatsServer>;
}

/** Starts a cluster and returns when JetStream has a leader that every member knows. */
export async function startNatsCluster(size = 3, options: NatsClusterOptions = {}): Promise<NatsCluster> {
  const root = await tempDirectory();
  try {
    const servers = await retryOnTakenPort(() => launchAll(size, root.path, options));
    const cluster: NatsCluster = {
      servers,
      urls: servers.map((server) => server.url),
      systemUrls: servers.map((server) => server.systemUrl),
      waitUntilReady: (timeoutMs) => waitUntilReady(servers, timeoutMs),
      [Symbol.asyncDispose]: async () => {
        await disposeAll(servers);
        await root[Symbol.asyncDispose]();
      },
    };
    await cluster.waitUntilReady().catch(async (error: unknown) => {
      await disposeAll(servers);
      throw error;
    });
    return cluster;
  } catch (error) {
    await root[Symbol.asyncDispose]();
    throw error;
  }
}

async function launchAll(size: number, root: string, options: NatsClusterOptions): Promise<NatsServer[]> {
  const binary = await natsBinary(options.version);
  const accounts = await accountsFor(options, root);
  const routes: number[] = [];
  for (let index = 0; index < size; index += 1) routes.push(await freePort());
  const starts = routes.map(async (port, index) => {
    const name = `test-${index + 1}`;
    return await NatsServer.launch({
      name,
      binary,
      directory: join(root, name),
      port: await freePort(),
      monitorPort: await freePort(),
      jetstream: true,
      cluster: { port, routes },
      ...accounts,
      ...(options.extraConfig === undefined ? {} : { extraConfig: options.extraConfig }),
      cleanup: async () => undefined,
    });
  });
  const results = await Promise.allSettled(starts);
  const servers = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const failure = results.find((result) => result.status === "rejected");
  if (failure === undefined) return servers;
  await disposeAll(servers);
  throw failure.reason;
}

async function disposeAll(servers: readonly NatsServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
}

/** The election of a first leader takes seconds, and more on a slow machine. */
const readyTimeoutMs = 90_000;

function waitUntilReady(servers: readonly NatsServer[], timeoutMs = readyTimeoutMs): Promise<NatsServer> {
  return waitFor(
    async () => {
      const running = servers.filter((server) => server.running);
      const views = await Promise.all(running.map((server) => viewOf(server)));
      const leader = running.find((server) => server.name === views[0]?.leader);
      const others = running.length - 1;
      const agreed = views.every((view) => view.leader === leader?.name && view.neighbours >= others);
      const followed = views.some((view) => view.followers >= others);
      return agreed && followed ? leader : undefined;
    },
    { timeoutMs, intervalMs: 50, describe: "the cluster to agree on a JetStream leader" },
  );
}

/** The cluster as one healthy member sees it. */
interface ClusterView {
  readonly leader: string | undefined;
  /** Members that this one has a route to. */
  readonly neighbours: number;
  /** Members that follow this one's meta group without lag; 0 unless it leads. */
  readonly followers: number;
}

interface MetaReplica {
  readonly current?: boolean;
  readonly offline?: boolean;
}

async function viewOf(server: NatsServer): Promise<ClusterView> {
  await server.monitor("/healthz");
  const jetStream = (await server.monitor("/jsz")) as {
    readonly meta_cluster?: { readonly leader?: string; readonly replicas?: readonly MetaReplica[] };
  };
  const { routes } = (await server.monitor("/routez")) as {
    readonly routes?: readonly { readonly remote_id: string }[];
  };
  const replicas = jetStream.meta_cluster?.replicas ?? [];
  return {
    leader: jetStream.meta_cluster?.leader,
    neighbours: new Set(routes?.map((route) => route.remote_id)).size,
    followers: replicas.filter((replica) => replica.current === true && replica.offline !== true).length,
  };
}
