import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { LeaseMetrics } from "./lease-metrics.ts";
import type { LeaseNumbers } from "./lease-tally.ts";

/** Lines with a value, without those of the histogram's buckets. */
async function linesOf(registry: Registry): Promise<readonly string[]> {
  return (await registry.metrics()).split("\n").filter((line) => /^[a-z]/.test(line) && !line.includes("_bucket"));
}

describe("metrics of leases", () => {
  it("show the numbers, and nothing while there are none", async () => {
    const registry = new Registry();
    const metrics = new LeaseMetrics(registry);
    let numbers: LeaseNumbers | undefined;
    metrics.show(() => numbers);
    const without = ["tenure_leaderless_seconds_sum 0", "tenure_leaderless_seconds_count 0"];
    expect(await linesOf(registry)).toEqual(without);
    numbers = {
      held: 7,
      ending: 2,
      free: 4,
      leaderless: 3,
      longestLeaderlessMs: 1_500,
      candidates: 0,
      identities: 0,
      leaderlessNames: [],
    };
    expect(await linesOf(registry)).toEqual([
      ...without,
      "tenure_held_leases 7",
      "tenure_free_leases 4",
      "tenure_ending_leases 2",
      "tenure_leaderless_leases 3",
      "tenure_longest_leaderless_seconds 1.5",
    ]);
    numbers = undefined;
    expect(await linesOf(registry)).toEqual(without);
  });

  it("keep how long leases were without a holder", async () => {
    const registry = new Registry();
    const metrics = new LeaseMetrics(registry);
    metrics.noteLed(500);
    metrics.noteLed(2_000);
    expect(await linesOf(registry)).toEqual(["tenure_leaderless_seconds_sum 2.5", "tenure_leaderless_seconds_count 2"]);
  });
});
