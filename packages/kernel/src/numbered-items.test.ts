import { describe, expect, it } from "vitest";
import { NumberedItems } from "./numbered-items.ts";
import { seededRandom } from "./random.ts";

describe("numbered items", () => {
  it.each([1, 2])("are what a map would have, however long each stays (seed %d)", (seed) => {
    const random = seededRandom(seed);
    const items = new NumberedItems<{ readonly number: number }>();
    const model = new Map<number, { readonly number: number }>();
    for (let number = 1; number < 6_000; number += 1) {
      const item = { number };
      items.set(number, item);
      model.set(number, item);
      // Some stay for ever, most for a while that shrinks and grows.
      const most = 1 + Math.floor(random.next() * (number % 3_000));
      for (const [old] of model) {
        if (model.size <= most) break;
        if (old % 97 === 0) continue;
        expect(items.delete(old)).toBe(model.get(old));
        expect(items.delete(old)).toBeUndefined();
        model.delete(old);
      }
      expect(items.size).toBe(model.size);
      const asked = 1 + Math.floor(random.next() * number);
      expect(items.get(asked)).toBe(model.get(asked));
    }
    expect(new Map(items.entries())).toEqual(model);
    items.clear();
    expect([items.size, items.entries(), items.get(97)]).toEqual([0, [], undefined]);
  });
});
