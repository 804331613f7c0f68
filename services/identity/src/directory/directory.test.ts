import { leaseKey } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { beatMs, IdentityWorld, namespace, validityMs } from "../testing/identity-world.ts";
import { DependentIndex } from "./dependent-index.ts";
import { Directory } from "./directory.ts";

function start() {
  const world = new IdentityWorld();
  const directory = new Directory(world, namespace);
  const told: string[] = [];
  directory.follow(({ change, liveness, record }) => told.push(`${record.key.split("/")[1]} ${change} ${liveness}`));
  return { world, directory, told, lease: leaseKey(namespace, "a") };
}

describe("the directory", () => {
  it("tells who joined, fell silent, came back and left", async () => {
    const { directory, lease, told, world } = start();
    const token = world.register("a");
    await world.clock.advance(3 * beatMs + 20);
    world.beat("a");
    await world.clock.advance(beatMs);
    world.run({ kind: "release", items: [{ lease, token }] });
    expect(told).toEqual(["a joined live", "a silent silent", "a live live", "a left gone"]);
    expect([...directory.ended]).toEqual(["a"]);
    expect(directory.total).toBe(0);
  });

  it("is told nothing by beats, and looks at an instance once per three beats", async () => {
    const world = new IdentityWorld();
    const samples: number[] = [];
    using directory = new Directory(world, namespace, (ageMs) => samples.push(ageMs));
    world.register("a");
    for (let beat = 0; beat < 30; beat += 1) {
      await world.clock.advance(beatMs);
      world.beat("a");
    }
    expect(directory.counts.get("worker")).toMatchObject({ live: 1, silent: 0 });
    expect(samples.length).toBeLessThanOrEqual(15);
    expect(Math.max(...samples)).toBeLessThanOrEqual(beatMs);
  });

  it("knows since when an instance is expired, and tells of its collection once", async () => {
    const { directory, lease, told, world } = start();
    world.register("a");
    const bornAtMs = world.clock.now();
    await world.clock.advance(validityMs + 20);
    expect(directory.expiredSinceMs("a")).toBe(bornAtMs + validityMs);
    expect([...directory.ended]).toEqual(["a"]);
    const record = directory.recordOf("a");
    const expectedRevision = record?.revision.sequence ?? 0n;
    const expected = { expectedRevision, expectedRenewalRevision: 0n };
    world.run({ kind: "collectLease", lease, graceMs: 0, isDependent: false, ...expected });
    expect(told).toEqual(["a joined live", "a silent silent", "a collected gone"]);
    expect([...directory.ended]).toEqual([]);
    expect([...directory.counts]).toEqual([]);
  });

  it("finds what differs after a gap, and what was there before it began", async () => {
    const { told, world } = start();
    world.register("a");
    await world.clock.advance(4 * beatMs);
    using later = new Directory(world, namespace);
    expect(later.counts.get("worker")).toMatchObject({ live: 0, silent: 1 });
    told.length = 0;
    later.onGap();
    expect(told).toEqual([]);
  });

  it("[98] ignores leases without the label, and other namespaces", () => {
    const { directory, told, world } = start();
    const claim = (lease: string) => ({ lease, mode: "exclusive", units: 1 }) as const;
    for (const lease of [leaseKey(namespace, "bare"), "tests/other"]) {
      world.run({ kind: "acquire", claims: [claim(lease)], claimant: { holder: "h" }, sendNumber: 1n });
    }
    expect(told).toEqual([]);
    expect(directory.total).toBe(0);
  });
});

describe("the index of dependents", () => {
  it("finds terms that name an identity, while they run", () => {
    const world = new IdentityWorld();
    using index = new DependentIndex(world);
    const lease = "tests/held";
    const claims = [{ lease, mode: "exclusive", units: 1 } as const];
    const reply = world.run({ kind: "acquire", claims, claimant: { holder: "h", identity: "a" }, sendNumber: 1n });
    expect([...index.of("a").leases]).toEqual([lease]);
    using later = new DependentIndex(world);
    expect([...later.of("a").leases]).toEqual([lease]);
    const token = reply.kind === "granted" ? (reply.grants[0]?.token ?? 0n) : 0n;
    world.run({ kind: "release", items: [{ lease, token }] });
    expect([...index.of("a").leases]).toEqual([]);
  });
});
