import { join } from "node:path";
import { unpackPackages } from "@tenure/launcher";
import { freePort, startProcess, tempDirectory, waitFor } from "@tenure/testkit";
import { MissingPeer, type System } from "../world/system.ts";

/** Starts etcd from the distribution's package, with its own defaults: every write is synced before it is answered. */
export async function startEtcd(members: number, report: (line: string) => void): Promise<System> {
  const { directory, version } = await unpackPackages({
    environment: process.env,
    report,
    name: "etcd",
    packages: ["etcd-server"],
  }).catch((error: Error) => {
    throw new MissingPeer(`etcd: ${error.message}`);
  });
  const root = await tempDirectory();
  const ports: { readonly client: number; readonly peer: number }[] = [];
  for (let member = 0; member < members; member += 1) {
    ports.push({ client: await freePort(), peer: await freePort() });
  }
  const cluster = ports.map(({ peer }, member) => `member-${member}=http://127.0.0.1:${peer}`).join(",");
  const processes = ports.map(({ client, peer }, member) =>
    startProcess(join(directory, "usr/bin/etcd"), {
      name: "etcd",
      args: [
        `--name=member-${member}`,
        `--data-dir=${join(root.path, `member-${member}`)}`,
        `--listen-client-urls=http://127.0.0.1:${client}`,
        `--advertise-client-urls=http://127.0.0.1:${client}`,
        `--listen-peer-urls=http://127.0.0.1:${peer}`,
        `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
        `--initial-cluster=${cluster}`,
        "--log-level=error",
      ],
    }),
  );
  const system: System = {
    description: `etcd ${version}, ${members === 1 ? "one member" : `${members} members`}, its defaults (every write synced)`,
    endpoints: endpointsOf(`127.0.0.1:${ports[0]?.client}`),
    processes: processes.map(({ pid }) => ({ name: "etcd", pid })),
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map((one) => one[Symbol.asyncDispose]()));
      await root[Symbol.asyncDispose]();
    },
  };
  for (const { client } of ports) {
    const isHealthy = async () => (await fetch(`http://127.0.0.1:${client}/health`)).ok;
    await waitFor(() => isHealthy().catch(() => false), { describe: "etcd to be healthy", timeoutMs: 60_000 });
  }
  return system;
}

function endpointsOf(address: string): System["endpoints"] {
  return { "etcd-grpc": address, "etcd-http2": address };
}
