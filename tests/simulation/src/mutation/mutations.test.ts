import { describe, expect, it } from "vitest";
import { hunt } from "./hunt.ts";
import { mutations } from "./mutations.ts";
import { promising } from "./promising.ts";

/** How many seeds a planted bug may survive; most are found in the first. */
const budget = 100;

describe("the oracles see a store that", () => {
  it.each(mutations)(
    "$name",
    async ({ breaks, name, plant, profile }) => {
      const found = await hunt(await plant(), budget, breaks, profile, promising[name]);
      expect(found?.violation, `not found in ${budget} seeds`).toBeDefined();
    },
    300_000,
  );

  it("has at least eight planted bugs to look for", () => {
    expect(new Set(mutations.map(({ name }) => name)).size).toBeGreaterThanOrEqual(8);
  });
});
