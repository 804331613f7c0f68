import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unpackPackages } from "@tenure/launcher";
import { freePort, startProcess, tempDirectory, waitFor } from "@tenure/testkit";
import { ZooKeeperSession } from "../clients/zookeeper/zookeeper-session.ts";
import { MissingPeer, type System } from "../world/system.ts";

/** The server and the libraries that it is started with; it needs no others. */
const packages = [
  "libzookeeper-java",
  "libslf4j-java",
  "libnetty-java",
  "libnetty-buffer-java",
  "libnetty-common-java",
  "libcommons-cli-java",
  "libcommons-io-java",
  "libdropwizard-metrics-java",
  "libsnappy-java",
] as const;

/** Starts one ZooKeeper server with its defaults: every write is synced before it is answered. Needs a java on PATH. */
export async function startZooKeeper(report: (line: string) => void): Promise<System> {
  const request = { environment: process.env, report, name: "zookeeper", packages };
  const { directory, version } = await unpackPackages(request).catch((error: Error) => {
    throw new MissingPeer(`ZooKeeper: ${error.message}`);
  });
  const root = await tempDirectory();
  const port = await freePort();
  await mkdir(join(root.path, "data"));
  const settings = {
    dataDir: join(root.path, "data"),
    clientPort: port,
    clientPortAddress: "127.0.0.1",
    tickTime: 2_000,
    "admin.enableServer": false,
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`);
  await writeFile(join(root.path, "zoo.cfg"), lines.join(""));
  const libraries = join(directory, "usr/share/java");
  // The first logger on the path is taken: the one that writes nothing.
  const classPath = [`${libraries}/slf4j-nop.jar`, `${libraries}/*`].join(":");
  const main = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
  const server = startProcess("java", {
    name: "zookeeper",
    args: ["-cp", classPath, main, join(root.path, "zoo.cfg")],
  });
  const endpoint = `127.0.0.1:${port}`;
  const isUp = () => tryConnect(endpoint);
  const isOver = async () => server.exit !== undefined || (await isUp());
  await waitFor(isOver, { describe: "ZooKeeper to answer", timeoutMs: 60_000 });
  if (server.exit !== undefined) throw new MissingPeer(`ZooKeeper did not start: ${server.output.tail()}`);
  return {
    description: `ZooKeeper ${version}, one server, its defaults (every write synced)`,
    endpoints: { zookeeper: endpoint },
    processes: [{ name: "zookeeper", pid: server.pid }],
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await root[Symbol.asyncDispose]();
    },
  };
}

async function tryConnect(endpoint: string): Promise<boolean> {
  try {
    await using _ = await ZooKeeperSession.open(endpoint);
    return true;
  } catch {
    return false;
  }
}
