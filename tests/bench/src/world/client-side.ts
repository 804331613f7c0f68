import { type Figures, type RunOptions, type Side, warmUpTurns } from "../benchmark.ts";
import type { ClientName } from "../worker/client-kinds.ts";
import { ClientProcess } from "../worker/client-process.ts";
import type { Workload } from "../workloads/index.ts";
import { costOf } from "./process-cost.ts";
import type { System } from "./system.ts";
import type { SystemChoice } from "./systems.ts";

/**
 * How long one measurement runs, and the work before the first that does not count, all turns of it together: code gets
 * fast by being run.
 */
const full = { measureMs: 3_000, warmUpMs: 8_000 };
const quick = { measureMs: 300, warmUpMs: 500 };

/** The same for every side of a run; a setting of all its benchmarks. */
export function pace(isQuick: boolean): typeof full {
  return isQuick ? quick : full;
}

const systemNames = ["tenure", "etcd", "zookeeper"] as const;

/** The system that a client belongs to. */
export function systemOf(client: ClientName): SystemChoice["name"] {
  return systemNames.find((name) => client.startsWith(name)) ?? "raw";
}

/**
 * One client process at work on a system that other sides share. Its figures: what the work gives (`rate`, `p50Ms`,
 * `p99Ms`), CPU seconds per 1,000 operations (`cpu client`, `cpu servers` for all together, and each process), and the
 * resident memory of each in bytes.
 */
export async function startClientSide(
  client: ClientName,
  workload: Workload,
  { isQuick, nodeOptions, systems }: RunOptions,
  servers: 1 | 3 = 1,
): Promise<Side> {
  const system = await systems.get({ name: systemOf(client), servers });
  const endpoint = system.endpoints[client] ?? "";
  const worker = await ClientProcess.start({ client, endpoint, workload }, nodeOptions);
  const { measureMs, warmUpMs } = pace(isQuick);
  return {
    async warmUp() {
      await worker.measure(warmUpMs / warmUpTurns);
    },
    async measure() {
      const before = await costs(system, worker.pid);
      const figures = await worker.measure(measureMs);
      return { ...figures, ...costFigures(before, await costs(system, worker.pid), figures.operations ?? 0) };
    },
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}

interface NamedCost {
  readonly name: string;
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

function costs(system: System, clientPid: number): Promise<readonly NamedCost[]> {
  const processes = [{ name: "client", pid: clientPid }, ...system.processes];
  return Promise.all(processes.map(async ({ name, pid }) => ({ name, ...(await costOf(pid)) })));
}

/** What a measurement cost, by the name of the process; processes of one name together. */
export function costFigures(before: readonly NamedCost[], after: readonly NamedCost[], operations: number): Figures {
  const figures: Record<string, number> = {};
  const add = (name: string, value: number) => {
    figures[name] = (figures[name] ?? 0) + value;
  };
  for (const [index, { cpuMs, memoryBytes, name }] of after.entries()) {
    // Milliseconds per operation are seconds per 1,000 operations.
    const cpuSeconds = (cpuMs - (before[index]?.cpuMs ?? 0)) / operations;
    add(`cpu ${name}`, cpuSeconds);
    if (name !== "client") add("cpu servers", cpuSeconds);
    add(`memory ${name}`, memoryBytes);
  }
  return figures;
}
