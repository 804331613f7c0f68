import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { PastKeeping } from "./past-keeping.ts";

function keeping() {
  const clock = new FakeClock();
  const past = new PastKeeping({ clock, keptChanges: 100, leastMs: 1_000 });
  const noteAfter = async (passedMs: number, facts: number) => {
    await clock.advance(passedMs);
    return past.note(facts);
  };
  return { past, noteAfter };
}

describe("the past that is worth keeping", () => {
  it("is kept while it spans a moment, however many facts come at once", async () => {
    const { past, noteAfter } = keeping();
    expect(await noteAfter(10, 5_000)).toBe(false);
    expect(past.isKept).toBe(true);
    expect(await noteAfter(100_000, 0)).toBe(false);
    expect(past.isKept).toBe(true);
  });

  it("is not kept when more changes in a moment than is kept, and again when half as much does", async () => {
    const { past, noteAfter } = keeping();
    expect(await noteAfter(1_000, 101)).toBe(true);
    expect(past.isKept).toBe(false);
    expect(await noteAfter(1_000, 51)).toBe(false);
    expect(past.isKept).toBe(false);
    expect(await noteAfter(2_000, 100)).toBe(true);
    expect(past.isKept).toBe(true);
  });

  it("counts a long time by its rate", async () => {
    const { past, noteAfter } = keeping();
    expect(await noteAfter(5_000, 500)).toBe(false);
    expect(past.isKept).toBe(true);
    expect(await noteAfter(5_000, 501)).toBe(true);
  });

  it("is kept for one who needs it, for ten seconds", async () => {
    const { past, noteAfter } = keeping();
    await noteAfter(1_000, 1_000);
    expect(past.need()).toBe(true);
    expect(past.need()).toBe(false);
    expect(await noteAfter(9_000, 90_000)).toBe(false);
    expect(past.isKept).toBe(true);
    expect(await noteAfter(1_000, 10_000)).toBe(true);
    expect(past.isKept).toBe(false);
  });
});
