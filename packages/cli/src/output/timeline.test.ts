import { describe, expect, it } from "vitest";
import { timelineLines } from "./timeline.ts";

describe("a timeline", () => {
  it("has a lane for each holder and a mark for each term, however short", () => {
    const stretch = (lane: string, fromMs: number, toMs: number, isOpen = false) => ({ lane, fromMs, toMs, isOpen });
    const lines = timelineLines(
      [stretch("b", 5_000, 5_001), stretch("a", 0, 5_000), stretch("b", 7_500, 10_000, true)],
      24,
    );
    expect(lines).toEqual(["   00:00:00    00:00:10", "a  ███████████·········", "b  ··········█····████▶"]);
    expect(timelineLines([], 80)).toEqual([]);
  });
});
