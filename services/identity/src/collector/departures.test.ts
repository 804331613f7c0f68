import { defaultCandidateSpec, leaseKey } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { DependentIndex } from "../directory/dependent-index.ts";
import { Directory } from "../directory/directory.ts";
import type { IdentityStore } from "../store/identity-store.ts";
import { IdentityWorld, namespace } from "../testing/identity-world.ts";
import { Departures } from "./departures.ts";

const lease = "billing/scheduler";
const record = leaseKey(namespace, "one");
const asking = { principal: "test", deadlineMs: 1_000 };

/** A process that has left, and whose candidate still stands. `onConflict` is what happened before the first removal. */
function departed(onConflict: (world: IdentityWorld) => void) {
  const world = new IdentityWorld();
  const token = world.register("one");
  stand(world);
  world.run({ kind: "release", items: [{ lease: record, token }] });
  const removed: string[] = [];
  let conflicts = 0;
  const collect: Pick<IdentityStore, "collect">["collect"] = async ({ subject }) => {
    if (conflicts === 0) {
      conflicts += 1;
      onConflict(world);
      return false;
    }
    removed.push("candidate" in subject ? "candidate" : "record");
    return true;
  };
  const store = { collect, freshRevision: async () => world.hub.revision } as unknown as IdentityStore;
  const departures = new Departures({
    store,
    directory: new Directory(world, namespace),
    dependents: new DependentIndex(world),
    model: { partitions: 1, stateOf: () => world.stateOf(), reach: async () => {} },
    onRemoved: () => {},
  });
  return { departures, removed };
}

/** Registers a candidate that belongs to the identity. */
function stand(world: IdentityWorld): void {
  const versions = { binaryVersion: "1.0.0", compatibilityVersion: "1.0.0" };
  const spec = { ...defaultCandidateSpec, ...versions, identity: "one" };
  world.run({ kind: "registerCandidate", lease, candidate: "c", spec });
}

describe("a departure", () => {
  it("takes the candidates of its identity along, also when they change meanwhile", async () => {
    const { departures, removed } = departed(stand);
    expect(await departures.finish("one", "left", asking)).toBe(true);
    expect(removed).toEqual(["candidate", "record"]);
  });

  it("spares what the same identity registers in a new life", async () => {
    const { departures, removed } = departed((world) => {
      world.register("one");
      stand(world);
    });
    expect(await departures.finish("one", "left", asking)).toBe(false);
    expect(removed).toEqual([]);
  });
});
