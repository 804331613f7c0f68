import { systemClock } from "@tenure/kernel";
import type { Benchmark, RunOptions, Side } from "../benchmark.ts";
import { eachInFlight } from "../world/in-flight.ts";
import { callsInFlight, Population } from "../world/population.ts";
import { costOf } from "../world/process-cost.ts";
import { settledMemory } from "../world/settled-memory.ts";
import { startStoreDeployment } from "../world/store-deployment.ts";

const many = 100_000;
const quickMany = 50_000;
/** The leases that the process is warmed up with. */
const warmLeases = 100;
/** Pairs that fill what has a fixed bound: the heap's young generation, code, and the changes kept for watches. */
const warmPairs = 10_000;
/** The clients of a fleet. */
const fleetClients = 1_000;

type Kind = "free" | "held" | "fleet" | "separate";

const kinds: readonly Kind[] = ["free", "held", "fleet", "separate"];

const described: Readonly<Record<Kind, string>> = {
  free: "free lease",
  held: "lease that is held, all by one client",
  fleet: `lease that is held, by ${fleetClients} clients`,
  separate: "lease that is held, each by a client of its own",
};

/** What an idle lease costs in memory. */
export const memory: Benchmark = {
  name: "memory",
  summary: "growth of a lease-store process's resident memory per idle lease",
  settings: ({ isQuick }) => [
    `${isQuick ? quickMany : many} leases with names of 14 to 17 bytes, 8 partitions, one replica that owns all`,
    `one NATS server, every write synced; settings as by default; ${callsInFlight} calls in flight while it is filled`,
    "memory is what the kernel counts as resident, read once the process has given back what it had for the calls",
    `growth is counted from a process that has done ${warmPairs} acquire + release pairs on ${warmLeases} leases`,
    "clients number their changes and keep a secret as the SDK does; what is remembered of each is part of the figure",
  ],
  mostRounds: 1,
  sides: kinds.map((kind) => ({
    name: kind,
    start: async (options: RunOptions): Promise<Side> => ({
      measure: () => measure(kind, options),
      [Symbol.asyncDispose]: async () => {},
    }),
  })),
  rows: kinds.map((kind) => ({
    name: kind,
    measures: `resident memory per ${described[kind]}`,
    unit: "B" as const,
    read: (round) => round[kind]?.bytesPerLease,
    // What is remembered of clients has a bound of its own, whatever the number of leases.
    ...(kind === "separate" ? undefined : { target: { atMost: 1_024 } }),
  })),
};

async function measure(kind: Kind, { isQuick, nodeOptions, tell }: RunOptions) {
  const count = isQuick ? quickMany : many;
  await using deployment = await startStoreDeployment({ nodeOptions });
  const { process } = await deployment.start();
  const population = new Population(deployment);
  await warmUp(population);
  const residentBytes = async () => (await costOf(process.pid)).memoryBytes;
  const before = await settledMemory(residentBytes, systemClock);
  await fill(population, kind, count);
  const after = await settledMemory(residentBytes, systemClock);
  tell(`memory: ${kind}: ${before} bytes before, ${after} after ${count} leases`);
  return { beforeBytes: before, afterBytes: after, bytesPerLease: (after - before) / count };
}

async function warmUp(population: Population): Promise<void> {
  await population.create("warm", warmLeases);
  await eachInFlight(warmLeases, callsInFlight, async (number) => {
    for (let pair = 0; pair < warmPairs / warmLeases; pair += 1) {
      const term = await population.acquire(`warm-${number}`, `warm-${number}`);
      await population.release(term, `warm-${number}`);
    }
  });
}

async function fill(population: Population, kind: Kind, count: number): Promise<void> {
  if (kind === "free") await population.create("idle", count);
  else if (kind === "held") await population.acquireAll("idle", count);
  else {
    const clients = kind === "fleet" ? fleetClients : count;
    await population.acquireAll("idle", count, undefined, (number) => `client-${number % clients}`);
  }
}
