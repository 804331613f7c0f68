import { describe, expect, it } from "vitest";
import { randomBase58, seededRandom, systemRandom } from "./random.ts";

describe("random", () => {
  it("repeats itself for a seed and differs between seeds", () => {
    const draw = (seed: number): number[] => {
      const random = seededRandom(seed);
      return Array.from({ length: 5 }, () => random.next());
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it("stays in [0, 1) over more draws than one buffer holds", () => {
    for (let draws = 0; draws < 1000; draws += 1) {
      const drawn = systemRandom.next();
      expect(drawn >= 0 && drawn < 1).toBe(true);
    }
  });

  it("writes base58 without look-alikes", () => {
    expect(randomBase58(seededRandom(1), 200)).toMatch(/^[1-9A-HJ-NP-Za-km-z]{200}$/);
  });
});
