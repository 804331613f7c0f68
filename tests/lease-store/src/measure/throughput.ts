import { systemClock } from "@tenure/kernel";
import type { Deployment } from "@tenure/testkit";
import { Load } from "../load.ts";
import { percentiles } from "./percentiles.ts";
import { processorMs } from "./processor-time.ts";

/** What a fresh process needs until its code is compiled. */
const warmUpMs = 5_000;

/** Operations that are acknowledged per second, with what they cost each process. */
export async function measureThroughput(deployment: Deployment, workers: number, forMs: number): Promise<string> {
  const load = new Load(deployment, workers);
  await systemClock.sleep(warmUpMs);
  const pids = new Map([...deployment.processes].map(([name, { pid }]) => [name, pid]));
  pids.set("nats", deployment.nats.pid).set("load", process.pid);
  const before = new Map([...pids].map(([name, pid]) => [name, processorMs(pid)]));
  const fromMs = systemClock.now();
  await systemClock.sleep(forMs);
  const untilMs = systemClock.now();
  const costs = [...pids].map(([name, pid]) => {
    const share = (processorMs(pid) - (before.get(name) ?? 0)) / (untilMs - fromMs);
    return `${name} ${Math.round(share * 100)} %`;
  });
  const operations = load.during(fromMs, untilMs);
  const rate = Math.round((operations.length * 1_000) / (untilMs - fromMs));
  const took = percentiles(operations.map(({ tookMs }) => tookMs));
  await load.stop();
  return `${workers} workers: ${rate} operations/s, ${took}; processor: ${costs.join(", ")}`;
}
