import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "./fake-clock.ts";
import { TimerWheel } from "./timer-wheel.ts";

function wheelOn(clock: FakeClock) {
  const told: { readonly item: string; readonly atMs: number }[] = [];
  const wheel = new TimerWheel<string>(clock, (item) => told.push({ item, atMs: clock.now() }));
  return { wheel, told };
}

describe("a timer wheel", () => {
  it("tells items in order, never early and at most a tick late", async () => {
    const clock = new FakeClock({ startMs: 3 });
    const { told, wheel } = wheelOn(clock);
    wheel.set("b", 25);
    wheel.set("a", 11);
    await clock.advance(100);
    expect(told).toEqual([
      { item: "a", atMs: 23 },
      { item: "b", atMs: 33 },
    ]);
  });

  it("moves an item that is set again and forgets one that is deleted", async () => {
    const clock = new FakeClock();
    const { told, wheel } = wheelOn(clock);
    wheel.set("moved", 20);
    wheel.set("moved", 500);
    wheel.set("gone", 20);
    expect(wheel.delete("gone")).toBe(true);
    expect(wheel.delete("gone")).toBe(false);
    await clock.advance(499);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual([{ item: "moved", atMs: 500 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("drives any number of items with one timer", () => {
    const clock = new FakeClock();
    const { wheel } = wheelOn(clock);
    for (let index = 0; index < 1_000; index += 1) wheel.set(`item-${index}`, index * 37);
    expect([wheel.size, clock.pendingTimers]).toEqual([1_000, 1]);
    wheel[Symbol.dispose]();
    expect([wheel.size, clock.pendingTimers]).toEqual([0, 0]);
  });

  it("lets an item be set again, and another deleted, while it is told", async () => {
    const clock = new FakeClock();
    const told: string[] = [];
    const wheel: TimerWheel<string> = new TimerWheel(clock, (item) => {
      told.push(`${item}@${clock.now()}`);
      if (item === "again" && told.length < 3) wheel.set("again", 0);
      wheel.delete("never");
    });
    wheel.set("again", 10);
    wheel.set("never", 10);
    await clock.advance(100);
    expect(told).toEqual(["again@10", "again@20", "again@30"]);
  });

  it("reaches further than its slots, and tells all that fell due while nothing ran", async () => {
    const clock = new FakeClock();
    const { told, wheel } = wheelOn(clock);
    const hourMs = 3_600_000;
    wheel.set("hour", hourMs);
    wheel.set("day", 24 * hourMs);
    await clock.advance(hourMs);
    expect(told).toEqual([{ item: "hour", atMs: hourMs }]);
    await clock.advance(23 * hourMs);
    expect(told.map(({ item }) => item)).toEqual(["hour", "day"]);
  });

  it("agrees with a plain list of deadlines, whatever is set, moved and deleted when", async () => {
    const step = fc.record({
      item: fc.integer({ min: 0, max: 9 }),
      delayMs: fc.option(fc.integer({ min: 0, max: 900_000 }), { freq: 5 }),
      waitMs: fc.integer({ min: 0, max: 60_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const clock = new FakeClock();
        const deadlines = new Map<number, number>();
        const wheel = new TimerWheel<number>(clock, (item) => {
          const dueMs = deadlines.get(item) ?? Number.POSITIVE_INFINITY;
          expect(clock.now() - dueMs).toBeGreaterThanOrEqual(0);
          expect(clock.now() - dueMs).toBeLessThanOrEqual(10);
          deadlines.delete(item);
        });
        for (const { delayMs, item, waitMs } of steps) {
          if (delayMs === null) {
            expect(wheel.delete(item)).toBe(deadlines.delete(item));
          } else {
            wheel.set(item, delayMs);
            deadlines.set(item, clock.now() + delayMs);
          }
          await clock.advance(waitMs);
        }
        await clock.advance(1_000_000);
        expect([wheel.size, deadlines.size, clock.pendingTimers]).toEqual([0, 0, 0]);
      }),
      { numRuns: 40 },
    );
  });
});
