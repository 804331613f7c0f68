import { describe, expect, it } from "vitest";
import { type Dated, Deadlines } from "./deadlines.ts";
import { FakeClock } from "./fake-clock.ts";

class Item implements Dated {
  place = -1;
  dueMs: number;
  readonly told: number[] = [];
  readonly #onDue: (item: Item) => void;

  constructor(dueMs: number, onDue: (item: Item) => void) {
    this.dueMs = dueMs;
    this.#onDue = onDue;
  }

  onDue(): void {
    this.told.push(this.dueMs);
    this.#onDue(this);
  }
}

describe("deadlines", () => {
  it("are told when they come, at their latest instant, with one timer for all", async () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines<Item>(clock);
    const forget = (item: Item) => deadlines.delete(item);
    const [late, early, never, gone, moved] = [500, 100, Number.POSITIVE_INFINITY, 100, 100].map(
      (dueMs) => new Item(dueMs, forget),
    );
    const all = [late, early, never, gone, moved].flatMap((item) => item ?? []);
    for (const item of all) deadlines.add(item);
    expect([clock.pendingTimers, deadlines.size]).toEqual([1, 5]);
    if (gone) deadlines.delete(gone);
    if (gone) deadlines.delete(gone);
    if (moved) moved.dueMs = 300;
    await clock.advance(99);
    expect(all.flatMap(({ told }) => told)).toEqual([]);
    await clock.advance(1);
    expect(all.map(({ told }) => told)).toEqual([[], [100], [], [], []]);
    if (late) late.dueMs = 200;
    if (late) deadlines.add(late);
    await clock.advance(200);
    expect(all.map(({ told }) => told)).toEqual([[200], [100], [], [], [300]]);
    expect([clock.pendingTimers, deadlines.all]).toEqual([0, [never]]);
  });

  it("are all told, also when one of them throws", async () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines<Item>(clock);
    const throwing = new Item(100, (item) => {
      deadlines.delete(item);
      throw new Error("of the item");
    });
    const others = [100, 300].map((dueMs) => new Item(dueMs, (item) => deadlines.delete(item)));
    for (const item of [throwing, ...others]) deadlines.add(item);
    await expect(clock.advance(100)).rejects.toThrow("of the item");
    await clock.advance(200);
    expect(others.map(({ told }) => told)).toEqual([[100], [300]]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("may add and delete others when they come, and stop", async () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines<Item>(clock);
    const other = new Item(100, () => {});
    const first = new Item(100, (item) => {
      deadlines.delete(item);
      deadlines.delete(other);
      item.dueMs = 150;
      deadlines.add(item);
    });
    deadlines.add(first);
    deadlines.add(other);
    await clock.advance(100);
    expect([first.told, other.told, deadlines.size]).toEqual([[100], [], 1]);
    deadlines.stop();
    await clock.advance(100);
    expect([first.told, clock.pendingTimers]).toEqual([[100], 0]);
  });
});
