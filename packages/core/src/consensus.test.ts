import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reconcile, type Voter } from "./consensus.ts";
import type { StrategyKind } from "./record/strategy.ts";

const voter = (name: string, kind: StrategyKind, binaryVersion = "1.0.0", text = ""): Voter => {
  const strategy = { kind, expression: kind === "expression" ? text : "", vendor: kind === "vendor" ? text : "" };
  return { name, spec: { binaryVersion, strategy } };
};

describe("consensus of candidates", () => {
  it("is none without candidates", () => {
    expect(reconcile([], "precedence")).toEqual({ kind: "none" });
    expect(reconcile([voter("a", "priority", "not-a-version")], "highestBinaryVersion")).toEqual({ kind: "none" });
  });

  it("by precedence takes the latest kind that anyone asks for", () => {
    const kinds = ["oldestCompatibilityVersion", "priority", "newestCompatibilityVersion"] as const;
    const voters = kinds.map((kind, index) => voter(`v${index}`, kind));
    expect(reconcile(voters, "precedence")).toMatchObject({ kind: "agreed", strategy: { kind: "priority" } });
    const more = [...voters, voter("n", "noCoordination"), voter("e", "expression", "1.0.0", "1")];
    expect(reconcile(more, "precedence")).toMatchObject({ kind: "agreed", strategy: { kind: "noCoordination" } });
  });

  it("[66] two expressions or vendors are a conflict, reported with its sides", () => {
    const voters = [
      voter("b", "expression", "1.0.0", "y"),
      voter("a", "expression", "1.0.0", "y"),
      voter("c", "expression", "1.0.0", "x"),
    ];
    expect(reconcile(voters, "precedence")).toEqual({
      kind: "conflict",
      conflict: {
        sides: [
          { strategy: { kind: "expression", expression: "x", vendor: "" }, candidates: ["c"] },
          { strategy: { kind: "expression", expression: "y", vendor: "" }, candidates: ["a", "b"] },
        ],
      },
    });
  });

  it("[65] by highest binary version lets those of that version decide", () => {
    const voters = [voter("old", "priority", "1.2.0"), voter("new", "oldestCompatibilityVersion", "1.19.0")];
    expect(reconcile(voters, "highestBinaryVersion")).toMatchObject({
      strategy: { kind: "oldestCompatibilityVersion" },
    });
    const same = [...voters, voter("new2", "priority", "1.19.0")];
    expect(reconcile(same, "highestBinaryVersion").kind).toBe("conflict");
  });

  it("[67] does not depend on the order of listing", () => {
    const arbitrary = fc.record({
      name: fc.stringMatching(/^[a-z]{1,4}$/),
      kind: fc.constantFrom<StrategyKind>("oldestCompatibilityVersion", "priority", "expression", "vendor"),
      version: fc.constantFrom("1.2.0", "1.19.0", "2.0.0-rc.1", "2.0.0", "junk"),
      text: fc.constantFrom("x", "y"),
    });
    const voters = fc
      .uniqueArray(arbitrary, { selector: ({ name }) => name, maxLength: 8 })
      .map((list) => list.map(({ name, kind, version, text }) => voter(name, kind, version, text)));
    fc.assert(
      fc.property(voters, fc.constantFrom("precedence", "highestBinaryVersion"), (list, rule) => {
        expect(reconcile([...list].reverse(), rule)).toEqual(reconcile(list, rule));
      }),
    );
  });
});
