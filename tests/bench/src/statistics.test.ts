import { describe, expect, it } from "vitest";
import { median, quantile, spread } from "./statistics.ts";

describe("statistics", () => {
  it("find the middle, between two values if need be", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([])).toBeNaN();
  });

  it("find quantiles and bounds", () => {
    const values = Array.from({ length: 101 }, (_, index) => 100 - index);
    expect(quantile(values, 0.99)).toBe(99);
    expect(quantile(values, 0.995)).toBe(99.5);
    expect(spread(values)).toEqual({ least: 0, greatest: 100 });
  });
});
