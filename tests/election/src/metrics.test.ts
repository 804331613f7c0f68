import { waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { type Deployment, startDeployment } from "./deployment.ts";
import { Fleet } from "./fleet.ts";

const version = { binaryVersion: "1.20.0" };

/** The value of a series, such as `tenure_terms_ended_total{reason="expired"`; undefined while there is none. */
async function metricOf(deployment: Deployment, instance: string, series: string): Promise<number | undefined> {
  const text = await (await fetch(`${deployment.http(instance)}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(series.includes("{") ? series : `${series}{`));
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
}

async function waitForValue(deployment: Deployment, instance: string, series: string, value: number): Promise<void> {
  await waitFor(async () => (await metricOf(deployment, instance, series)) === value, {
    timeoutMs: 60_000,
    describe: `${series} of ${instance} to be ${value}`,
  });
}

describe("the metrics of a lease that loses its leader while nobody coordinates", () => {
  it("say so until another leads, and why the term ended", async () => {
    await using deployment = await startDeployment();
    await using fleet = new Fleet(deployment.grpc(), "tests/watched");
    await fleet.start("a", version);
    const { token } = await fleet.leads("a");
    await fleet.start("b", version);
    await waitForValue(deployment, "gateway-1", "tenure_held_leases", 1);
    expect(await metricOf(deployment, "gateway-1", "tenure_leaderless_leases")).toBe(0);
    expect(await metricOf(deployment, "gateway-1", "tenure_longest_leaderless_seconds")).toBe(0);
    await waitForValue(deployment, "store-1", 'tenure_terms_begun_total{origin="elected"', 1);
    const ledBefore = (await metricOf(deployment, "gateway-1", "tenure_leaderless_seconds_count")) ?? 0;

    await deployment.kill("election-1");
    await fleet.kill("a");
    await waitForValue(deployment, "gateway-1", "tenure_leaderless_leases", 1);
    expect(await metricOf(deployment, "gateway-1", "tenure_held_leases")).toBe(0);
    expect(await metricOf(deployment, "gateway-1", "tenure_longest_leaderless_seconds")).toBeGreaterThan(0);
    await waitForValue(deployment, "store-1", 'tenure_terms_ended_total{reason="expired"', 1);

    await deployment.start("election", "election-2");
    await fleet.leads("b", token);
    await waitForValue(deployment, "gateway-1", "tenure_leaderless_leases", 0);
    await waitForValue(deployment, "gateway-1", "tenure_held_leases", 1);
    expect(await metricOf(deployment, "gateway-1", "tenure_longest_leaderless_seconds")).toBe(0);
    expect(await metricOf(deployment, "gateway-1", "tenure_leaderless_seconds_count")).toBe(ledBefore + 1);
    await waitForValue(deployment, "store-1", 'tenure_terms_begun_total{origin="elected"', 2);
    expect(await metricOf(deployment, "election-2", "tenure_election_uncoordinated_shards")).toBe(0);
  }, 240_000);
});
