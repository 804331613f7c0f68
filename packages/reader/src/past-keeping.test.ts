import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { PastKeeping } from "./past-keeping.ts";

function keeping() {
  const clock = new FakeClock();
  const past = new PastKeeping({ clock, keptChanges: 100, leastMs: 1_000 });
  const after = async (passedMs: number, facts: number) => {
    await clock.advance(passedMs);
    return past.note(facts);
  };
  return { past, after };
}

describe("the past that is worth keeping", () => {
  it("is kept while it spans a moment, however many facts come at once", async () => {
    const { past, after } = keeping();
    expect(await after(10, 5_000)).toBe(false);
    expect(past.isKept).toBe(true);
    expect(await after(100_000, 0)).toBe(false);
    expect(past.isKept).toBe(true);
  });

  it("is not kept when more changes in a moment than is kept, and again when half as much does", async () => {
    const { past, after } = keeping();
    expect(await after(1_000, 101)).toBe(true);
    expect(past.isKept).toBe(false);
    expect(await after(1_000, 51)).toBe(false);
    expect(past.isKept).toBe(false);
    expect(await after(2_000, 100)).toBe(true);
    expect(past.isKept).toBe(true);
  });

  it("counts a long time by its rate", async () => {
    const { past, after } = keeping();
    expect(await after(5_000, 500)).toBe(false);
    expect(past.isKept).toBe(true);
    expect(await after(5_000, 501)).toBe(true);
  });

  it("is kept for one who needs it, for ten seconds", async () => {
    const { past, after } = keeping();
    await after(1_000, 1_000);
    expect(past.need()).toBe(true);
    expect(past.need()).toBe(false);
    expect(await after(9_000, 90_000)).toBe(false);
    expect(past.isKept).toBe(true);
    expect(await after(1_000, 10_000)).toBe(true);
    expect(past.isKept).toBe(false);
  });
});
