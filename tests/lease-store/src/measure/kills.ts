import { systemClock } from "@tenure/kernel";
import { type Deployment, waitFor } from "@tenure/testkit";
import { startStores } from "../deployment.ts";
import { Load } from "../load.ts";
import { percentiles } from "./percentiles.ts";

const partitions = Array.from({ length: 8 }, (_, partition) => partition);
const warmUpMs = 6_000;
/** A gap that is longer than promised is told with all that the replicas said. */
const promisedMs = 2_000;

/** Kills the owner of most partitions under load, again and again, each time in a fresh deployment. */
export async function measureKills(times: number, workers: number): Promise<string> {
  const gapsMs: number[] = [];
  for (let time = 1; time <= times; time += 1) {
    await using deployment = await startStores(3);
    const { gapMs, rate } = await killOnce(deployment, workers);
    gapsMs.push(gapMs);
    process.stdout.write(`kill ${time}: ${Math.round(gapMs)} ms at ${Math.round(rate)} operations/s\n`);
    if (gapMs > promisedMs) tellAll(deployment);
  }
  return `${times} kills of an owner, longest gap of any partition: ${percentiles(gapsMs)}, most ${Math.max(...gapsMs).toFixed(0)} ms`;
}

async function killOnce(deployment: Deployment, workers: number) {
  const load = new Load(deployment, workers);
  await systemClock.sleep(warmUpMs);
  const owners = partitions.map((partition) => deployment.ownerOf(partition));
  const count = (name: string) => owners.filter((owner) => owner === name).length;
  const [victim = ""] = [...deployment.processes.keys()].toSorted((left, right) => count(right) - count(left));
  const killedAtMs = systemClock.now();
  const rate = (load.during(killedAtMs - 3_000, killedAtMs).length * 1_000) / 3_000;
  await deployment.process(victim).kill9();
  const isServed = (partition: number) =>
    load.acknowledged.some((one) => one.partition === partition && one.atMs - one.tookMs > killedAtMs);
  await waitFor(() => partitions.every(isServed), { describe: "every partition", timeoutMs: 60_000, intervalMs: 50 });
  const gapMs = load.longestGapMs(killedAtMs, systemClock.now());
  await load.stop();
  return { gapMs, rate };
}

function tellAll(deployment: Deployment): void {
  for (const [name, { output }] of deployment.processes) {
    for (const line of output.all.slice(-60)) process.stdout.write(`  ${name} ${line}\n`);
  }
}
