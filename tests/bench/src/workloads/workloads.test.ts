import { expect, it } from "vitest";
import type { Contender, PeerClient, Renewer, Watched } from "../clients/peer-client.ts";
import { startWork } from "./index.ts";

/** A system in memory: one lease that is handed from one to the next, and watches that see at once. */
class MemoryClient implements PeerClient {
  readonly #line: (() => void)[] = [];
  readonly lanes = new Set<number>();
  #isHeld = false;

  async pair(lane: number): Promise<void> {
    if (this.lanes.has(lane)) throw new Error(`two at a time on lane ${lane}`);
    this.lanes.add(lane);
    await new Promise((resolve) => setImmediate(resolve));
    this.lanes.delete(lane);
  }

  async contender(): Promise<Contender> {
    return {
      acquire: () =>
        new Promise((resolve) => {
          if (this.#isHeld) this.#line.push(resolve);
          else resolve();
          this.#isHeld = true;
        }),
      release: async () => {
        const next = this.#line.shift();
        this.#isHeld = next !== undefined;
        next?.();
      },
    };
  }

  async writer(): Promise<() => Promise<unknown>> {
    return () => new Promise((resolve) => setImmediate(resolve));
  }

  async watched(watchers: number, seen: () => void): Promise<Watched> {
    const change = async () => {
      for (let watcher = 0; watcher < watchers; watcher += 1) seen();
    };
    return { prepare: async () => {}, change };
  }

  async renewer(leases: number): Promise<Renewer> {
    return { renewFor: async () => ({ count: leases, latenciesMs: [1, 2, 3] }) };
  }

  async idle(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

it.each([
  { kind: "pairs", inFlight: 4 },
  { kind: "hand-overs", waiters: 3, restMs: 0 },
  { kind: "writes", inFlight: 2, isGuarded: true },
  { kind: "watches", watchers: 5 },
  { kind: "renewals", leases: 7 },
] as const)("%o gives a rate and latencies, again and again", async (workload) => {
  const work = await startWork(new MemoryClient(), workload);
  for (let round = 0; round < 2; round += 1) {
    const { operations = 0, p50Ms, p99Ms, rate } = await work(30);
    expect(operations).toBeGreaterThan(0);
    expect(rate).toBeGreaterThan(0);
    expect(p99Ms).toBeGreaterThanOrEqual(p50Ms ?? Number.NaN);
  }
});
