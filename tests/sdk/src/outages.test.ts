import type { Observation, Tenure, Term } from "@tenure/sdk";
import { waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SdkDeployment, startSdkDeployment, ways } from "./deployment.ts";

let deployment: SdkDeployment;

beforeAll(async () => {
  deployment = await startSdkDeployment();
}, 120_000);

afterAll(async () => {
  await deployment?.[Symbol.asyncDispose]();
});

/** A client with the default timing that leads, and another that waits and watches. */
async function leaderAndStandby(way: (typeof ways)[number], lease: string) {
  const timing = {};
  const leader = await deployment.connect(way, { identity: "leader", timing });
  const standby = await deployment.connect(way, { identity: "standby", timing });
  const terms: Term[] = [];
  const seen: Observation[] = [];
  const hold = (term: Term) => {
    terms.push(term);
    return new Promise<void>((resolve) => term.signal.addEventListener("abort", () => resolve()));
  };
  const stop = new AbortController();
  const leading = leader.lead(lease, { signal: stop.signal }, hold);
  const first = await waitFor(() => terms[0], { describe: "the leader to lead" });
  void standby.lead(lease, hold);
  const observing = observeInto(standby, lease, seen);
  await waitFor(async () => (await leader.leases.get(lease))?.waiters === 1);
  return {
    first,
    terms,
    seen,
    /** How many renewals of the leader were proven. */
    renewals: () => leader.metrics.of(`tests/${lease}`).renewals,
    /** Hands over on purpose, and says what the standby has got. */
    async handOver() {
      stop.abort();
      await leading;
      return await waitFor(() => terms[1], { describe: "the standby to lead", timeoutMs: 60_000 });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([leader.close(), standby.close()]);
      await observing;
    },
  };
}

async function observeInto(tenure: Tenure, lease: string, seen: Observation[]): Promise<void> {
  for await (const observation of tenure.observe(lease)) seen.push(observation);
}

/** What happens to the deployment while a term runs. */
const outages = [
  {
    name: "the gateway is killed and started again",
    strike: async () => {
      await deployment.process("gateway-1").kill9();
      await deployment.start("gateway", "gateway-1");
    },
  },
  {
    name: "NATS is killed and started again",
    strike: async () => {
      await deployment.nats.kill9();
      await deployment.nats.restart();
    },
  },
  {
    name: "the lease store is killed and started again",
    strike: async () => {
      await deployment.process("store-1").kill9();
      await deployment.start("lease-store", "store-1");
    },
  },
] as const;

describe.each(ways)("over %s", (way) => {
  it.each(outages)(
    "a holder keeps its term and streams resume by themselves when $name",
    async ({ name, strike }) => {
      const lease = `${way}-${outages.findIndex((one) => one.name === name)}`;
      await using both = await leaderAndStandby(way, lease);
      await waitFor(() => both.seen.length >= 1);
      await strike();
      const before = both.renewals();
      await waitFor(() => both.renewals() >= before + 2, { describe: "renewals after the outage", timeoutMs: 30_000 });
      both.first.check();
      expect(both.first.signal.aborted).toBe(false);
      expect(both.terms).toHaveLength(1);
      const next = await both.handOver();
      expect(next.token).toBeGreaterThan(both.first.token);
      await waitFor(() => both.seen.some((one) => one.kind === "leader" && one.token === next.token), {
        describe: "the watch to tell of the standby",
      });
      expect(next.holder).toBe("standby");
    },
    120_000,
  );
});
