import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editDistance, nearest } from "./nearest.ts";

describe("nearest", () => {
  it.each([
    ["--http-prot", "--http-port"],
    ["--nats-ur", "--nats-url"],
    ["--natsurl", "--nats-url"],
    ["--frobnicate", undefined],
    ["TENURE_STPO_TIMEOUT", "TENURE_STOP_TIMEOUT"],
    ["TENURE_NATS_TIMEOUT", undefined],
    ["", undefined],
  ])("finds for %j the name %j", (name, expected) => {
    const known = ["--http-port", "--nats-url", "--log-level", "TENURE_STOP_TIMEOUT"];
    expect(nearest(name, known)).toBe(expected);
  });

  it("measures a distance: zero only to itself, the same both ways, at most the longer length", () => {
    const word = fc.string({ maxLength: 12, unit: fc.constantFrom("a", "b", "-") });
    fc.assert(
      fc.property(word, word, (from, to) => {
        const distance = editDistance(from, to);
        expect(distance === 0).toBe(from === to);
        expect(distance).toBe(editDistance(to, from));
        expect(distance).toBeLessThanOrEqual(Math.max(from.length, to.length));
      }),
    );
  });
});
