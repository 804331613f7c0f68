import { loadConfig } from "@tenure/runtime";
import { describe, expect, it } from "vitest";
import { checkConfig, collectionPolicyOf, identityFields, limitsOf } from "./config.ts";

function load(...argv: string[]) {
  return loadConfig({ fields: identityFields, argv, environment: {}, readFile: () => "" }).values;
}

describe("the configuration", () => {
  it("has the proposal's beat of 10 s and validity of 1 h", () => {
    const config = load();
    checkConfig(config);
    expect(config).toMatchObject({
      beatIntervalMs: 10_000,
      validityMs: 3_600_000,
      identityNamespace: "tenure-identities",
    });
    expect(collectionPolicyOf(config)).toEqual({
      graceMs: 300_000,
      holdBackShare: 0.3,
      holdBackMinimum: 10,
      settleMs: 60_000,
    });
    expect(limitsOf(config)).toEqual({
      leastBeatIntervalMs: 1_000,
      mostBeatIntervalMs: 600_000,
      mostValidityMs: 86_400_000,
    });
  });

  it.each([
    [["--beat-interval=500ms"], "beat-interval"],
    [["--beat-interval=5m", "--validity=20m"], "validity"],
  ])("refuses %j", (argv, where) => {
    expect(() => checkConfig(load(...argv))).toThrow(where);
  });
});
