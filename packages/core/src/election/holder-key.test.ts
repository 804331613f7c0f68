import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type KeyOrder, takesPrecedence } from "./holder-key.ts";

describe("holder keys", () => {
  it.each([
    ["1.20.0", "1.19.0", "highestVersion", true],
    ["1.2.0", "1.19.0", "highestVersion", false],
    ["1.2.0", "1.19.0", "lowestVersion", true],
    ["1.20.0", "1.19.0", "lowestVersion", false],
    ["10", "9", "highestNumber", true],
    ["-1", "0", "highestNumber", false],
    ["7", "7", "highestNumber", false],
    ["1.20.0", "1.20.0", "lowestVersion", false],
  ] as const)("%s against %s by %s: %s", (own, existing, order, expected) => {
    expect(takesPrecedence(own, existing, order)).toBe(expected);
  });

  it.each(["highestVersion", "lowestVersion", "highestNumber"] as const)(
    "statement 106: a holder without a key, or with one that says nothing, ranks lowest by %s, also beside its equals",
    (order) => {
      const own = order === "highestNumber" ? "1" : "1.0.0";
      for (const nothing of ["", "latest"]) {
        expect(takesPrecedence(own, nothing, order)).toBe(true);
        expect(takesPrecedence(nothing, own, order)).toBe(false);
        expect(takesPrecedence(nothing, nothing, order)).toBe(false);
        expect(takesPrecedence("", nothing, order)).toBe(false);
      }
    },
  );

  it("statement 107: two claimants with one comparison never both take precedence over each other", () => {
    const key = fc.oneof(fc.constantFrom("", "x", "1.0.0", "1.2.0", "1.19.0-rc.1"), fc.integer().map(String));
    const order = fc.constantFrom<KeyOrder>("highestVersion", "lowestVersion", "highestNumber");
    fc.assert(
      fc.property(key, key, order, (left, right, by) => {
        expect(takesPrecedence(left, right, by) && takesPrecedence(right, left, by)).toBe(false);
      }),
    );
  });
});
