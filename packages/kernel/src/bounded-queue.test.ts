import { describe, expect, it } from "vitest";
import { BoundedQueue } from "./bounded-queue.ts";

describe("BoundedQueue", () => {
  it("hands items over in order and ends after the last", async () => {
    const queue = new BoundedQueue<number>(10);
    for (const item of [1, 2, 3]) queue.push(item);
    queue.end();
    const seen: number[] = [];
    for await (const item of queue) seen.push(item);
    expect(seen).toEqual([1, 2, 3]);
  });

  it("refuses an item beyond its capacity and one after its end", () => {
    const queue = new BoundedQueue<number>(2);
    expect([queue.push(1), queue.push(2), queue.push(3)]).toEqual([true, true, false]);
    expect(queue.size).toBe(2);
    queue.end();
    expect(queue.push(4)).toBe(false);
  });

  it("wakes a consumer that waits", async () => {
    const queue = new BoundedQueue<string>(1);
    const first = queue[Symbol.asyncIterator]().next();
    queue.push("late");
    expect(await first).toEqual({ value: "late", done: false });
  });

  it("delivers a failure after the items that came before it, and only the first", async () => {
    const queue = new BoundedQueue<number>(10);
    queue.push(1);
    queue.fail(new Error("cut"));
    queue.fail(new Error("again"));
    const seen: number[] = [];
    await expect(
      (async () => {
        for await (const item of queue) seen.push(item);
      })(),
    ).rejects.toThrow("cut");
    expect(seen).toEqual([1]);
  });
});
