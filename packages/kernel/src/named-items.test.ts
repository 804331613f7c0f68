import { describe, expect, test } from "vitest";
import { NamedItems } from "./named-items.ts";

describe("NamedItems", () => {
  test("has what was set and not deleted, in the order in which names came", () => {
    const items = new NamedItems<{ n: number }>();
    items.set("a", { n: 1 });
    items.set("b", { n: 2 });
    items.set("a", { n: 3 });
    expect(items.size).toBe(2);
    expect(items.get("a")).toEqual({ n: 3 });
    expect(items.all).toEqual([{ n: 3 }, { n: 2 }]);
    expect(items.delete("a")).toEqual({ n: 3 });
    expect(items.delete("a")).toBeUndefined();
    expect(items.get("a")).toBeUndefined();
    expect(items.all).toEqual([{ n: 2 }]);
    items.set("a", { n: 4 });
    expect(items.all).toEqual([{ n: 2 }, { n: 4 }]);
    items.clear();
    expect(items.size).toBe(0);
    expect(items.all).toEqual([]);
  });

  test("what is deleted while all are gone through does no harm", () => {
    const items = new NamedItems<string>();
    for (let n = 0; n < 1_000; n += 1) items.set(`name ${n}`, `item ${n}`);
    for (const item of items.all) items.delete(item.replace("item", "name"));
    expect(items.size).toBe(0);
  });
});
