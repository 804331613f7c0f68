import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { RateLimit } from "./rate-limit.ts";

describe("RateLimit", () => {
  it("lets a second's worth through at once, then as many as time allows, and says when the next may pass", async () => {
    const clock = new FakeClock();
    const limit = new RateLimit(clock, 10);
    const passed = () => Array.from({ length: 20 }, () => limit.take()).filter(Boolean).length;
    expect(passed()).toBe(10);
    expect(limit.retryAfterMs).toBe(100);
    await clock.advance(200);
    expect(passed()).toBe(2);
    await clock.advance(60_000);
    expect(passed()).toBe(10);
  });

  it("of 0 lets everything through", async () => {
    const limit = new RateLimit(new FakeClock(), 0);
    expect(Array.from({ length: 1_000 }, () => limit.take()).every(Boolean)).toBe(true);
  });
});
