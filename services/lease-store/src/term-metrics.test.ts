import type { Event } from "@tenure/core";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { TermMetrics } from "./term-metrics.ts";

const granted = (lease: string, origin: string) => ({ kind: "holdGranted", lease, hold: { origin } }) as Event;
const ended = (lease: string, endReason: string) => ({ kind: "holdEnded", lease, endReason }) as Event;

async function countsOf(registry: Registry): Promise<readonly string[]> {
  return (await registry.metrics()).split("\n").filter((line) => line.startsWith("tenure_"));
}

describe("metrics of terms", () => {
  it("count terms by how they began and why they ended, however often they are asked for", async () => {
    const registry = new Registry();
    const metrics = new TermMetrics(registry);
    metrics.note([granted("billing/a", "elected"), granted("billing/b", "acquired"), ended("billing/a", "expired")]);
    metrics.note([granted("billing/a", "elected"), ended("billing/b", "steppedDown")]);
    await countsOf(registry);
    const counts = (await countsOf(registry)).filter((line) => !line.endsWith(" 0"));
    expect(counts).toEqual([
      'tenure_terms_begun_total{origin="acquired"} 1',
      'tenure_terms_begun_total{origin="elected"} 2',
      'tenure_terms_ended_total{reason="expired"} 1',
      'tenure_terms_ended_total{reason="steppedDown"} 1',
    ]);
  });

  it("have every word from the start", async () => {
    const registry = new Registry();
    new TermMetrics(registry);
    const counts = await countsOf(registry);
    expect(counts).toContain('tenure_terms_ended_total{reason="expired"} 0');
    expect(counts).toHaveLength(5 + 11);
  });

  it("leave out the leases of the system", async () => {
    const registry = new Registry();
    const metrics = new TermMetrics(registry);
    metrics.note([granted("tenure-identities/a", "acquired"), ended("tenure-system/shard-1", "expired")]);
    expect((await countsOf(registry)).every((line) => line.endsWith(" 0"))).toBe(true);
  });
});
