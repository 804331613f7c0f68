import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Backoff } from "./backoff.ts";
import { seededRandom } from "./random.ts";

describe("Backoff", () => {
  it("waits between half and all of a doubling step, never above the limit", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const backoff = new Backoff({ firstMs: 100, limitMs: 5000 }, seededRandom(seed));
        for (let tries = 0; tries < 40; tries += 1) {
          const fullMs = Math.min(100 * 2 ** tries, 5000);
          const waitMs = backoff.next();
          expect(waitMs).toBeGreaterThanOrEqual(fullMs / 2);
          expect(waitMs).toBeLessThanOrEqual(fullMs);
        }
        backoff.reset();
        expect(backoff.next()).toBeLessThanOrEqual(100);
      }),
    );
  });
});
