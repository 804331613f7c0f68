import { connect, type Observation } from "@tenure/sdk";
import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Contender } from "./faults/contender.ts";
import { NumberedWatcher, NumberedWriter } from "./faults/numbered.ts";
import { Oracle } from "./faults/oracle.ts";
import { strikes } from "./faults/strikes.ts";
import { tell } from "./fleet/tell.ts";

const isLong = process.env.TENURE_LONG === "1";
const namespace = "faults";

let deployment: Deployment;
let endpoints: readonly string[];

beforeAll(async () => {
  deployment = await startDeployment({ services: { "lease-store": 2, gateway: 2 } });
  endpoints = ["gateway-1", "gateway-2"].map((instance) => deployment.grpc(instance));
}, 180_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 60_000);

/** Two clients of which the first leads and the second stands in the queue. */
async function leaderAndStandby(lease: string) {
  const oracle = new Oracle();
  const leader = await Contender.start({ endpoints }, { name: "leader", namespace, lease, oracle });
  const term = await waitFor(() => leader.terms[0], { describe: "the leader to lead", timeoutMs: 60_000 });
  const standby = await Contender.start({ endpoints }, { name: "standby", namespace, lease, oracle });
  const record = await waitFor(
    async () => {
      const found = await leader.tenure.leases.get(lease);
      return found?.waiters === 1 && found;
    },
    { describe: "the standby to wait" },
  );
  return { oracle, leader, standby, term, partition: record.holds[0]?.partition ?? 0 };
}

/** Where a number does not follow the one before. */
function gapsIn(numbers: readonly number[]): readonly string[] {
  return numbers.flatMap((number, at) => {
    const before = numbers[at - 1] ?? number - 1;
    return number === before + 1 ? [] : [`${before} to ${number}`];
  });
}

describe("inside its term", () => {
  it.each(strikes.map((strike) => [strike.name, strike] as const))(
    "a holder keeps it and watches go on without a gap when %s",
    async (name, { forgets = false, steps }) => {
      const lease = `kept-${strikes.findIndex((one) => one.name === name)}`;
      const { leader, oracle, partition, standby, term } = await leaderAndStandby(lease);
      await using _leader = leader;
      await using _standby = standby;
      await using inside = await connect({ nats: { servers: [deployment.nats.url] }, renewal: "inline" });
      const watcher = new NumberedWatcher(leader.tenure, lease);
      const writer = new NumberedWriter(inside, lease);
      await waitFor(() => writer.last >= 5 && watcher.numbers.length >= 5, { describe: "numbers before the strike" });

      for (const step of steps) {
        await step(deployment, partition);
        const [renewals, number] = [leader.renewals, watcher.numbers.length];
        await waitFor(() => leader.renewals >= renewals + 3 && watcher.numbers.length >= number + 20, {
          describe: "renewals and numbers after the strike",
          timeoutMs: 120_000,
        });
      }

      term.check();
      expect(term.signal.aborted).toBe(false);
      expect(oracle.terms.map(({ holder, token }) => [holder, token])).toEqual([["leader", term.token]]);

      await writer.stop();
      await waitFor(() => watcher.numbers.at(-1) === writer.last, { describe: "the last number", timeoutMs: 60_000 });
      await watcher.stop();
      if (!forgets) expect(watcher.restarts).toBe(0);
      expect(gapsIn(watcher.numbers).length).toBeLessThanOrEqual(watcher.restarts);

      await leader.retire();
      await waitFor(() => standby.terms.length === 1, { describe: "the standby to follow", timeoutMs: 60_000 });
      await standby.retire();
      expect(oracle.violations()).toEqual([]);
    },
    300_000,
  );
});

describe("whatever is killed", () => {
  it(
    "nobody leads twice while terms pass from one to the next, and guarded writes are taken in the order of tokens",
    async () => {
      const { nats } = deployment;
      const lease = "contended";
      const oracle = new Oracle();
      const timing = { leaseDuration: "5s" };
      const reaches = [{ endpoints }, { endpoints }, { nats: { servers: [nats.url] } }];
      const contenders = await Promise.all(
        reaches.map((reach, at) =>
          Contender.start(
            { ...reach, timing },
            { name: `contender-${at}`, namespace, lease, oracle, stepDownAfterMs: 300 },
          ),
        ),
      );
      await using observer = await connect({ endpoints, namespace, renewal: "inline", timing });
      const seen: Observation[] = [];
      const observing = (async () => {
        for await (const observation of observer.observe(lease)) seen.push(observation);
      })();
      const termsAfter = async (count: number) => {
        const wanted = oracle.terms.length + count;
        await waitFor(() => oracle.terms.length >= wanted, { describe: `${count} more terms`, timeoutMs: 120_000 });
      };
      await termsAfter(6);
      const { partition = 0 } = (await observer.leases.get(lease))?.holds[0] ?? {};
      for (let round = 0; round < (isLong ? 5 : 1); round += 1) {
        for (const step of strikes.flatMap(({ steps }) => steps)) {
          await step(deployment, partition);
          await termsAfter(4);
        }
      }
      await Promise.all(contenders.map((contender) => contender[Symbol.asyncDispose]()));
      await waitFor(() => seen.some((one) => one.kind === "leader" && one.token === oracle.lastToken), {
        describe: "the observer to be told of the last term",
      });
      await observer.close();
      await observing;

      await tell("faults", { ...oracle.counts, seen: seen.length });
      expect(oracle.violations()).toEqual([]);
      expect(new Set(oracle.terms.map(({ holder }) => holder)).size).toBe(contenders.length);
      expect(oracle.counts.refused).toBeGreaterThan(0);
      const told = seen.flatMap((one) => (one.kind === "leader" ? [one.token] : []));
      expect(told).toEqual([...new Set(told)].toSorted((left, right) => Number(left - right)));
    },
    isLong ? 1_200_000 : 420_000,
  );
});
