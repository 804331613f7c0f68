import { ConsensusRule, durationFromMs, HoldMode, LeaseSpec } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { factLines } from "../output/table.ts";
import { settingFacts } from "./lease-settings.ts";

/** What the service answers for a lease that sets nothing. */
const defaults = {
  leaseDuration: durationFromMs(15_000),
  lockDelay: durationFromMs(0),
  mode: HoldMode.EXCLUSIVE,
  drainBound: durationFromMs(30_000),
  minimumTerm: durationFromMs(0),
  coolDown: durationFromMs(0),
  consensusRule: ConsensusRule.PRECEDENCE,
};
const described = (more: Parameters<typeof LeaseSpec.fromPartial>[0]) =>
  factLines(settingFacts(LeaseSpec.fromPartial({ ...defaults, ...more })));

describe("the settings of a lease", () => {
  it("are not spoken of while they are the defaults", () => {
    expect(described({})).toEqual(["Mode:  exclusive"]);
  });

  it("are all shown when they are not, in 80 columns, by the names that apply takes", () => {
    const lines = described({
      leaseDuration: durationFromMs(20_000),
      lockDelay: durationFromMs(2_000),
      drainBound: durationFromMs(60_000),
      minimumTerm: durationFromMs(300_000),
      coolDown: durationFromMs(90_000),
      fallbackDelay: durationFromMs(0),
      consensusRule: ConsensusRule.HIGHEST_BINARY_VERSION,
      zonePreference: ["north", "south"],
      labels: Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`team-${index}`, "billing-and-more"])),
      annotations: { note: "x".repeat(4_000), steps: "first\nsecond", owner: "ann" },
    });
    expect(lines.slice(0, 5)).toEqual([
      "Mode:         exclusive",
      "Settings:     leaseDuration 20s, lockDelay 2s, drainBound 1m,",
      "              minimumTerm 5m, coolDown 1m30s, fallbackDelay 0ms,",
      "              consensusRule highest-binary-version",
      "Zones:        north, south",
    ]);
    expect(lines.slice(-3)).toEqual([
      `Annotations:  note=${"x".repeat(54)}…`,
      "              steps=first…",
      "              owner=ann",
    ]);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
  });

  it("say how many may hold a counted lease", () => {
    expect(described({ mode: HoldMode.COUNTED, capacity: 3 })).toEqual(["Mode:      counted", "Capacity:  3"]);
  });
});
