import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { keepHeapSmall } from "./heap.ts";

describe("keeping the heap small", () => {
  it("goes on looking how busy the process is until it is stopped", async () => {
    const clock = new FakeClock();
    const keeping = keepHeapSmall(clock);
    await clock.advance(10_000);
    expect(clock.pendingTimers).toBe(1);
    keeping[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });
});
