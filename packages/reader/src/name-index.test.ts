import { apply, defaultLeaseSpec, type Event, emptyPartition } from "@tenure/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NameIndex } from "./name-index.ts";

describe("an index of names", () => {
  it("has after every batch exactly the names of the state, in order", () => {
    const names = fc.constantFrom("a/b", "a/b-c", "a/c", "b/a", "a/b.d");
    const step = fc.record({ lease: names, isCreated: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const state = emptyPartition(0, 0);
        const index = new NameIndex();
        index.of(state);
        steps.forEach(({ isCreated, lease }, number) => {
          const cause = { author: "", reason: "" };
          const created: Event = { kind: "leaseCreated", lease, uid: number, spec: defaultLeaseSpec, ...cause };
          const event: Event = isCreated ? created : { kind: "tombstoneRemoved", lease, ...cause };
          apply(state, event, { sequence: BigInt(number), wallMs: 0, seenAtMs: 0 });
          index.note([event], state);
          expect(index.of(state)).toEqual([...state.leases.keys()].sort());
        });
      }),
    );
  });
});
