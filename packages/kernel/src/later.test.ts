import { describe, expect, test } from "vitest";
import { Later } from "./later.ts";

function noting() {
  const told: unknown[] = [];
  return { told, onValue: (value: unknown) => told.push(value), onFailure: (thrown: unknown) => told.push([thrown]) };
}

describe("Later", () => {
  test("tells its listener in the same turn, whichever comes first, and only the first outcome", () => {
    const early = new Later<string>();
    const listener = noting();
    early.tell(listener);
    early.resolve("a");
    early.resolve("b");
    early.reject("c");
    const late = new Later<string>();
    late.reject("d");
    late.resolve("e");
    late.tell(listener);
    expect(listener.told).toEqual(["a", ["d"]]);
    expect([early.isSettled, late.isSettled, new Later().isSettled]).toEqual([true, true, false]);
  });

  test("is a promise for whoever wants one", async () => {
    const kept = new Later<number>();
    const { promise } = kept;
    kept.resolve(1);
    expect(await promise).toBe(1);
    const broken = new Later<number>();
    broken.reject(new Error("gone"));
    await expect(broken.promise).rejects.toThrow("gone");
  });
});
