import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finish, recordsPerStep, sortInSteps } from "./steps.ts";

describe("sortInSteps", () => {
  it("sorts as Array.sort does, equal items in their order", () => {
    const items = fc.array(fc.record({ key: fc.nat(50), place: fc.nat() }), { size: "max", maxLength: 5_000 });
    fc.assert(
      fc.property(items, (list) => {
        const compare = (left: { key: number }, right: { key: number }) => left.key - right.key;
        expect(finish(sortInSteps(list, compare))).toEqual(list.toSorted(compare));
      }),
      { numRuns: 50 },
    );
  });

  it("pauses at least once for each step's worth of items", () => {
    const items = Array.from({ length: 10 * recordsPerStep }, (_, index) => -index);
    const steps = sortInSteps(items, (left, right) => left - right);
    let pauses = 0;
    while (steps.next().done !== true) pauses += 1;
    expect(pauses).toBeGreaterThanOrEqual(40);
  });
});
