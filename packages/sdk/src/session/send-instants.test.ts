import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SendInstants } from "./send-instants.ts";

describe("the instants of sends", () => {
  it("are those that were noted, or a few milliseconds earlier", () => {
    const instants = new SendInstants();
    instants.note(1, 1_000);
    instants.note(2, 1_002);
    instants.note(3, 1_003);
    expect([1, 2, 3, 4].map((number) => instants.at(number))).toEqual([1_000, 1_000, 1_003, 1_003]);
    instants.note(4, 1_010);
    expect([1, 2, 3, 4, 5].map((number) => instants.at(number))).toEqual([1_000, 1_000, 1_003, 1_010, 1_010]);
    expect(instants.at(0)).toBe(Number.NEGATIVE_INFINITY);
  });

  it("are never later than the truth, and not known when they are too old to carry a term", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(gaps, (gapsMs) => {
        const instants = new SendInstants();
        const truth: number[] = [];
        let nowMs = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          truth.push(nowMs);
          instants.note(truth.length, nowMs);
        }
        truth.forEach((atMs, index) => {
          const known = instants.at(index + 1);
          expect(known).toBeLessThanOrEqual(atMs);
          if (nowMs - atMs < 300_000) expect(known).toBeGreaterThan(atMs - 5);
        });
      }),
    );
  });

  it("take memory for their time and not for their number", () => {
    const instants = new SendInstants();
    for (let number = 1; number <= 1_000_000; number += 1) instants.note(number, number / 1_000);
    expect(instants.size).toBeLessThanOrEqual(202);
    for (let number = 0; number < 200_000; number += 1) instants.note(2_000_000 + number, 10_000 + number * 5);
    expect(instants.size).toBeLessThanOrEqual(60_002);
  });
});
