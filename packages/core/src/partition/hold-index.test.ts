import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Hold } from "../record/hold.ts";
import { LeaseRecord } from "../record/lease.ts";
import { originPosition } from "../record/position.ts";
import { HoldIndex } from "./hold-index.ts";

const position = originPosition(0);
const lease = new LeaseRecord("test/a", position);

function holdOf(id: number): Hold {
  const manner = { holderKey: "", principal: "p", mode: "exclusive", units: 1, origin: "acquired" } as const;
  const facts = { ...manner, id, token: 1n, holder: "h", leaseDurationMs: 15_000, lockDelayMs: 0 };
  return new Hold(lease, facts, position, position);
}

/** Ids as partitions give them, and ids that crowd the same places. */
const id = fc.oneof(
  fc.nat(40),
  fc.nat(2_000),
  fc.nat(300).map((number) => 1_790_000_000_000_000 + number * 65_536),
);

describe("an index of holds", () => {
  it("answers as a map does, whatever is added and deleted", () => {
    const step = fc.record({ id, isAdded: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const index = new HoldIndex();
        const model = new Map<number, Hold>();
        for (const { id, isAdded } of steps) {
          const hold = holdOf(id);
          if (isAdded) index.add(hold);
          else index.delete(id);
          if (isAdded) model.set(id, hold);
          else model.delete(id);
        }
        expect(index.size).toBe(model.size);
        for (const { id } of steps) expect(index.get(id)).toBe(model.get(id));
        const inOrder = (ids: Iterable<number>) => [...ids].sort((left, right) => left - right);
        expect(inOrder(index.keys())).toEqual(inOrder(model.keys()));
      }),
    );
  });

  it("gives room back when most terms have ended", () => {
    const index = new HoldIndex();
    for (let id = 1; id <= 10_000; id += 1) index.add(holdOf(id));
    for (let id = 1; id <= 9_999; id += 1) index.delete(id);
    expect([...index.keys()]).toEqual([10_000]);
    expect(index.get(10_000)?.id).toBe(10_000);
    expect(index.get(1)).toBeUndefined();
  });
});
