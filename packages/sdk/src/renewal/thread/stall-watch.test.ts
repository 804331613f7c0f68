import { describe, expect, it } from "vitest";
import { StallWatch, stallRules } from "./stall-watch.ts";

const rules = stallRules(1_000, 3_000);

/** Looks every step from one instant to another; the main thread is seen at the given instant. */
function lookOn(watch: StallWatch, fromMs: number, toMs: number, seenAtMs: (nowMs: number) => number): void {
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += rules.stepMs) watch.look(nowMs, seenAtMs(nowMs));
}

describe("the watch over the main thread", () => {
  it("looks eight times per σ", () => {
    expect(rules.stepMs).toBe(125);
  });

  it("lets a main thread that shows life be renewed for, also past a deadline", () => {
    const watch = new StallWatch(rules, 0);
    lookOn(watch, 125, 60_000, (nowMs) => nowMs - 50);
    expect(watch.mayRenew).toBe(true);
    expect(watch.silentMs).toBe(0);
    expect(watch.isStalledPast(30_000, 60_000)).toBe(false);
  });

  it("stops renewals after the bound of silence, and allows them with the next sign of life", () => {
    const watch = new StallWatch(rules, 0);
    watch.look(125, 100);
    lookOn(watch, 250, 3_125, () => 100);
    expect(watch.mayRenew).toBe(true);
    watch.look(3_250, 100);
    expect(watch.mayRenew).toBe(false);
    watch.look(3_375, 3_300);
    expect(watch.mayRenew).toBe(true);
  });

  it("calls a stall at the deadline, and within σ of it however late the silence began", () => {
    for (const silentFromMs of [0, 5_000, 9_400, 9_900, 10_000]) {
      const watch = new StallWatch(rules, 0);
      let stalledAtMs = Number.POSITIVE_INFINITY;
      for (let nowMs = 125; nowMs <= 12_000; nowMs += 125) {
        watch.look(nowMs, Math.min(nowMs, silentFromMs));
        if (watch.isStalledPast(10_000, nowMs)) stalledAtMs = Math.min(stalledAtMs, nowMs);
      }
      expect(stalledAtMs).toBeGreaterThan(10_000);
      expect(stalledAtMs).toBeLessThanOrEqual(10_750);
    }
  });

  it("counts only time in which it was awake itself: after a stop of the process the main thread has its time", () => {
    const watch = new StallWatch(rules, 0);
    lookOn(watch, 125, 1_000, (nowMs) => nowMs);
    watch.look(61_000, 1_000);
    expect(watch.isStalledPast(12_000, 61_000)).toBe(false);
    watch.look(61_125, 61_100);
    expect(watch.silentMs).toBe(0);
    // And one that does not come back is ended.
    const other = new StallWatch(rules, 0);
    lookOn(other, 125, 1_000, (nowMs) => nowMs);
    lookOn(other, 61_000, 61_500, () => 1_000);
    expect(other.isStalledPast(12_000, 61_500)).toBe(true);
  });
});
