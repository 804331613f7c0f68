import { startDeployment, waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { addedByPrometheus, seriesIn, seriesOf } from "./metric-names.ts";
import { expressions } from "./observability.ts";

const instances = ["store-1", "gateway-1", "identity-1", "election-1", "migration-1"];

describe("running services", () => {
  it("expose every series that the alerts and the dashboard read", async () => {
    const services = { "lease-store": 1, gateway: 1, identity: 1, election: 1, migration: 1 };
    await using deployment = await startDeployment({ services });
    const exposed = new Set(addedByPrometheus);
    for (const instance of instances) {
      for (const series of seriesOf(await scrape(deployment.http(instance)))) exposed.add(series);
    }
    for (const [asker, expression] of expressions) {
      for (const series of seriesIn(expression)) expect([...exposed], `${asker}: ${expression}`).toContain(series);
    }

    // What is looked up at a scrape has a value as soon as the log is read.
    const numbers = await waitFor(
      async () => {
        const text = await scrape(deployment.http("gateway-1"));
        return text.includes("\ntenure_held_leases{") ? text : undefined;
      },
      { timeoutMs: 60_000, describe: "the gateway to know the leases" },
    );
    expect(numbers).toContain('tenure_leaderless_leases{service="gateway"} 0');
    expect(await scrape(deployment.http("store-1"))).toContain(
      'tenure_terms_ended_total{reason="expired",service="lease-store"} 0',
    );
    const shards = 'tenure_election_uncoordinated_shards{service="election"} 0';
    expect(await scrape(deployment.http("election-1"))).toContain(shards);
  }, 240_000);
});

async function scrape(http: string): Promise<string> {
  return await (await fetch(`${http}/metrics`)).text();
}
