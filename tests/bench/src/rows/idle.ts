import { systemClock } from "@tenure/kernel";
import type { Benchmark, Figures, RunOptions, Side } from "../benchmark.ts";
import { startEtcd } from "../peers/etcd-server.ts";
import type { ClientName } from "../worker/client-kinds.ts";
import { ClientProcess } from "../worker/client-process.ts";
import { costOf } from "../world/process-cost.ts";
import { settledMemory } from "../world/settled-memory.ts";
import type { System } from "../world/system.ts";
import { startTenure } from "../world/tenure-system.ts";
import { ratioRow } from "./compare.ts";

const many = 100_000;
const quickMany = 20_000;
/** Leases that warm the processes up, so that only growth is counted. */
const warm = 2_000;

/** What an idle lease costs in memory, against etcd's. */
export const idle: Benchmark = {
  name: "idle",
  summary: "growth of resident memory per idle lease, of every server process",
  settings: ({ isQuick }) => [
    `${isQuick ? quickMany : many} leases on a deployment of its own; growth from the moment when ${warm} others were taken`,
    "Tenure: held by one client of the SDK; etcd: a lease with one key each",
    "memory is read once the processes have given back what they had for the calls",
  ],
  mostRounds: 1,
  sides: [
    side("tenure", "tenure-nats", () => startTenure(1)),
    side("etcd", "etcd-http2", ({ tell }) => startEtcd(1, tell)),
  ],
  rows: [
    ratioRow(
      {
        name: "lease-store",
        measures: "growth of a lease-store process per idle lease against etcd's",
        figure: "lease-store bytes",
        of: "tenure",
        to: "etcd",
      },
      { atMost: 1 },
    ),
    ratioRow(
      {
        name: "all processes",
        measures: "growth of all server processes together per idle lease against etcd's",
        figure: "all bytes",
        of: "tenure",
        to: "etcd",
      },
      { atMost: 3 },
    ),
  ],
};

function side(name: string, client: ClientName, start: (options: RunOptions) => Promise<System>) {
  return {
    name,
    async start(options: RunOptions): Promise<Side> {
      const system = await start(options);
      return {
        measure: () => measure(system, client, options),
        [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
      };
    },
  };
}

async function measure(system: System, client: ClientName, { isQuick, nodeOptions }: RunOptions): Promise<Figures> {
  const count = isQuick ? quickMany : many;
  const endpoint = system.endpoints[client] ?? "";
  const order = (leases: number) => ({ client, endpoint, workload: { kind: "idle", leases } as const });
  await using _warm = await ClientProcess.start(order(warm), nodeOptions);
  const before = await memoryAtRest(system);
  await using _many = await ClientProcess.start(order(count), nodeOptions);
  const after = await memoryAtRest(system);
  const grown = Object.entries(after).map(([name, bytes]) => [name, (bytes - (before[name] ?? 0)) / count] as const);
  const all = grown.reduce((sum, [, bytes]) => sum + bytes, 0);
  const figures = Object.fromEntries(grown.map(([name, bytes]) => [`${name} bytes`, bytes]));
  return { ...figures, "all bytes": all, "lease-store bytes": figures["lease-store bytes"] ?? all };
}

/** Memory is given back in steps: to read in between would be to measure what step it is. */
async function memoryAtRest(system: System): Promise<Figures> {
  await settledMemory(
    async () => Object.values(await memoryOf(system)).reduce((sum, bytes) => sum + bytes, 0),
    systemClock,
  );
  return await memoryOf(system);
}

async function memoryOf({ processes }: System): Promise<Figures> {
  const read = async ({ name, pid }: System["processes"][number]) => [name, (await costOf(pid)).memoryBytes] as const;
  return Object.fromEntries(await Promise.all(processes.map(read)));
}
