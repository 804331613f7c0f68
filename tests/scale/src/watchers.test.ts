import { loadavg } from "node:os";
import { connect } from "@tenure/sdk";
import { type Deployment, promisedMs, startDeployment } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { measureCpu } from "./fleet/cpu.ts";
import { Fleet } from "./fleet/fleet.ts";
import { monotonicMs } from "./fleet/monotonic.ts";
import { rounded, spreadOf } from "./fleet/quantiles.ts";
import { tell } from "./fleet/tell.ts";
import type { WatchersResult, WatchersTask } from "./fleet/watchers.ts";

const isLong = process.env.TENURE_LONG === "1";
/** The whole of it is for the long run. */
const size = isLong
  ? { processes: 4, connections: 25, watchesPerConnection: 100 }
  : { processes: 1, connections: 5, watchesPerConnection: 60 };
const watches = size.processes * size.connections * size.watchesPerConnection;
const rounds = 5;

let deployment: Deployment;

beforeAll(async () => {
  deployment = await startDeployment({ args: { gateway: ["--watchers=20000"] } });
}, 180_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 60_000);

/** Takes the lease and gives it back; when it was asked for and answered, and when each watch was told. */
async function change(fleet: Fleet<WatchersTask, WatchersResult>, endpoint: string, name: string, round: number) {
  await using tenure = await connect({ endpoint, namespace: "watched", renewal: "inline", connectTimeout: "60s" });
  const askedAtMs = monotonicMs();
  const lock = await tenure.lock(name, { wait: false });
  const answeredAtMs = monotonicMs();
  const results = await fleet.results(60_000, round);
  await lock[Symbol.asyncDispose]();
  expect(results.map(({ token }) => token)).toEqual(results.map(() => String(lock.token)));
  const seenAtMs = results.flatMap((result) => result.seenAtMs);
  return {
    answeredAfterMs: rounded(answeredAtMs - askedAtMs),
    firstAfterMs: rounded(Math.min(...seenAtMs) - askedAtMs),
    lastAfterMs: rounded(Math.max(...seenAtMs) - askedAtMs),
    seen: spreadOf(seenAtMs.map((atMs) => atMs - askedAtMs)),
  };
}

describe(`${watches} watches of one lease on one gateway`, () => {
  it.each(["observe", "plain"] as const)(
    "are all told of a change within 1 s, by %s streams",
    async (way) => {
      const boundMs = promisedMs(1_000);
      const endpoint = deployment.grpc();
      const { connections, processes, watchesPerConnection } = size;
      const name = `seen-by-${way}`;
      const task: WatchersTask = { endpoint, namespace: "watched", name, way, connections, watchesPerConnection };
      await using fleet = new Fleet<WatchersTask, WatchersResult>(
        "watchers",
        Array.from({ length: processes }, () => task),
      );
      await fleet.ready(180_000);
      const measured = await measureCpu({ gateway: deployment.process("gateway-1").pid });
      const changes = [];
      for (let round = 0; round < rounds; round += 1) changes.push(await change(fleet, endpoint, name, round));
      await tell(`watchers-${way}-${watches}`, {
        watches,
        changes,
        cpuMs: await measured(),
        loadAverage: loadavg().map(rounded),
      });
      for (const { lastAfterMs } of changes) expect(lastAfterMs).toBeLessThan(boundMs);
    },
    600_000,
  );
});
