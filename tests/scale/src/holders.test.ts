import { loadavg } from "node:os";
import { type Deployment, startDeployment } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { measureCpu } from "./fleet/cpu.ts";
import { Fleet } from "./fleet/fleet.ts";
import type { HoldersResult, HoldersTask } from "./fleet/holders.ts";
import { rounded, spreadOf } from "./fleet/quantiles.ts";
import { tell } from "./fleet/tell.ts";

const isLong = process.env.TENURE_LONG === "1";
/** The whole of it is for the long run. */
const size = isLong ? { processes: 4, clients: 250, spanMs: 60_000 } : { processes: 2, clients: 20, spanMs: 3_000 };
const renewIntervalMs = 500;

let deployment: Deployment;

beforeAll(async () => {
  deployment = await startDeployment();
}, 180_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 60_000);

const sum = (results: readonly HoldersResult[], of: (result: HoldersResult) => number): number =>
  results.reduce((total, result) => total + of(result), 0);

describe(`${size.processes * size.clients} clients with one lease each on one gateway`, () => {
  it(
    `lose none while they renew every ${renewIntervalMs} ms for ${size.spanMs / 1_000} s`,
    async () => {
      const endpoint = deployment.grpc();
      const tasks = Array.from({ length: size.processes }, (_, at): HoldersTask => {
        return { endpoint, part: `part-${at}`, clients: size.clients, renewIntervalMs, spanMs: size.spanMs };
      });
      await using fleet = new Fleet<HoldersTask, HoldersResult>("holders", tasks);
      await fleet.ready(180_000);
      const measured = await measureCpu({
        gateway: deployment.process("gateway-1").pid,
        store: deployment.process("store-1").pid,
        nats: deployment.nats.pid,
        ...Object.fromEntries(fleet.processes.map(({ pid }, at) => [`clients ${at + 1}`, pid])),
      });
      fleet.signal();
      const results = await fleet.results(size.spanMs + 60_000);
      const all = size.processes * size.clients;
      const perSecond = sum(results, ({ renewals }) => renewals) / (size.spanMs / 1_000);
      await tell(`holders-${all}`, {
        clients: all,
        spanMs: size.spanMs,
        lost: sum(results, ({ lost }) => lost),
        missed: sum(results, ({ missed }) => missed),
        renewalsPerSecond: Math.round(perSecond),
        ack: spreadOf(results.flatMap(({ acksMs }) => acksMs)),
        leastLeftMs: rounded(Math.min(...results.map(({ leastLeftMs }) => leastLeftMs))),
        cpuMs: await measured(),
        loadAverage: loadavg().map(rounded),
      });
      expect(sum(results, ({ lost }) => lost)).toBe(0);
      expect(sum(results, ({ held }) => held)).toBe(all);
      // They did renew that often; timers of a busy machine come late.
      expect(perSecond).toBeGreaterThan((all * 1_000 * 0.8) / renewIntervalMs);
    },
    size.spanMs + 300_000,
  );
});
