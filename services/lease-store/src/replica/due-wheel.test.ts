import { FakeClock } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DueWheel } from "./due-wheel.ts";

/** A wheel whose items want to be looked at when their own instant has come. */
function newWheel() {
  const clock = new FakeClock({ startMs: 1_000 });
  const dueAtMs = new Map<string, number>();
  const told: { item: string; lateMs: number }[] = [];
  let looks = 0;
  const ticks = new Map<string, number>();
  const notes = {
    get: (item: string) => ticks.get(item) ?? 0,
    set: (item: string, tick: number) => ticks.set(item, tick),
  };
  const wheel = new DueWheel<string>(clock, notes, (item) => {
    looks += 1;
    const untilMs = (dueAtMs.get(item) ?? clock.now()) - clock.now();
    if (untilMs > 0) return untilMs;
    told.push({ item, lateMs: -untilMs });
    return undefined;
  });
  const set = (item: string, delayMs: number) => {
    dueAtMs.set(item, clock.now() + delayMs);
    wheel.set(item, delayMs);
  };
  return { clock, wheel, told, set, looks: () => looks };
}

const day = 86_400_000;

describe("a due wheel", () => {
  it("tells every item once, never early and at most a tick late, whatever the distance", async () => {
    const delays = fc.array(fc.oneof(fc.nat(3_000), fc.nat(700_000), fc.nat(2 * day)), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(delays, async (list) => {
        const { clock, set, told, wheel } = newWheel();
        for (const [index, delayMs] of list.entries()) set(String(index), delayMs);
        await clock.advance(2 * day + 10);
        expect(told.map(({ item }) => item).sort()).toEqual(list.map((_, index) => String(index)).sort());
        for (const { lateMs } of told) expect(lateMs).toBeLessThanOrEqual(10);
        expect(wheel.size).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it("tells an item that moved to an earlier instant at that instant, and once", async () => {
    const { clock, set, told } = newWheel();
    set("a", 600_000);
    set("a", 500);
    await clock.advance(509);
    expect(told).toMatchObject([{ item: "a" }]);
    await clock.advance(700_000);
    expect(told).toHaveLength(1);
  });

  it("does nothing for an item that moves to later and later instants, but looks at it now and then", async () => {
    const { clock, looks, set, told, wheel } = newWheel();
    for (let number = 0; number < 1_000; number += 1) {
      set("a", 15_000);
      await clock.advance(100);
    }
    expect(told).toEqual([]);
    expect(wheel.size).toBe(1);
    expect(looks()).toBeLessThan(30);
  });

  it("leaves out entries that are no longer meant, however often items move", async () => {
    const { clock, set, told, wheel } = newWheel();
    for (let round = 0; round < 5_000; round += 1) {
      set("a", day);
      set("a", 10);
      await clock.advance(20);
    }
    expect(told).toHaveLength(5_000);
    expect(wheel.entries).toBeLessThan(2_000);
  });

  it("says nothing after it was closed", async () => {
    const { clock, set, told, wheel } = newWheel();
    set("a", 10);
    wheel[Symbol.dispose]();
    set("b", 10);
    await clock.advance(day);
    expect(told).toEqual([]);
  });
});
