#!/usr/bin/env node
import { startStores } from "../deployment.ts";
import { measureGrants } from "./grants.ts";
import { measureKills } from "./kills.ts";
import { measureThroughput } from "./throughput.ts";

/** What can be measured: `npm run measure -- throughput [workers] | grants [rounds] | kills [times]`. */
const measurements: Readonly<Record<string, (amount: number | undefined) => Promise<string>>> = {
  throughput: async (workers = 128) => {
    await using deployment = await startStores(3);
    return await measureThroughput(deployment, workers, 10_000);
  },
  grants: async (rounds = 1_000) => {
    await using deployment = await startStores(3);
    return await measureGrants(deployment, rounds);
  },
  kills: (times = 20) => measureKills(times, 128),
};

const [what = "", amount] = process.argv.slice(2);
const measure = measurements[what];
if (measure === undefined) {
  process.stderr.write(`name what to measure: ${Object.keys(measurements).join(", ")}\n`);
  process.exitCode = 2;
} else process.stdout.write(`${await measure(amount === undefined ? undefined : Number(amount))}\n`);
