import { describe, expect, it } from "vitest";
import { defaultLeaseSpec, shareSpec } from "./lease-spec.ts";

describe("shareSpec", () => {
  it("gives one object for equal specs", () => {
    const spec = { ...defaultLeaseSpec, leaseDurationMs: 7_000, labels: { a: "b" } };
    expect(shareSpec({ ...spec, labels: { a: "b" } })).toBe(shareSpec(spec));
    expect(shareSpec(defaultLeaseSpec)).toBe(defaultLeaseSpec);
  });

  const others = [
    { leaseDurationMs: 1 },
    { lockDelayMs: 1 },
    { mode: "counted" },
    { capacity: 2 },
    { drainBoundMs: 1 },
    { minimumTermMs: 1 },
    { coolDownMs: 1 },
    { fallbackDelayMs: 1 },
    { consensusRule: "majority" },
    { zonePreference: ["eu"] },
    { labels: { a: "b" } },
    { annotations: { a: "b" } },
  ] as const;

  it.each(others)("keeps specs apart that differ in %o", (difference) => {
    const spec = { ...defaultLeaseSpec, ...difference } as typeof defaultLeaseSpec;
    shareSpec({ ...defaultLeaseSpec });
    expect(shareSpec(spec)).toEqual(spec);
  });

  it("goes on sharing after very many different ones", () => {
    for (let number = 1; number <= 2_500; number += 1) shareSpec({ ...defaultLeaseSpec, leaseDurationMs: number });
    const spec = { ...defaultLeaseSpec, leaseDurationMs: 2_500 };
    expect(shareSpec(spec)).toBe(shareSpec({ ...spec }));
  });
});
