import { describe, expect, it } from "vitest";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { Desk } from "../testing/desk.ts";

describe("expire", () => {
  it("ends so many terms of one lease at once that a batch never grows too large, and the others next", () => {
    const desk = new Desk();
    const lease = "billing/workers";
    const spec = { ...defaultLeaseSpec, mode: "counted", capacity: 1_000 } as const;
    for (let unit = 0; unit < 300; unit += 1) desk.take(`w-${unit}`, lease, { claim: { mode: "counted", spec } });
    desk.advance(15_000);
    expect(desk.run({ kind: "expire", lease }, "owner").kind).toBe("changed");
    expect(desk.record(lease).holds.length).toBe(44);
    expect(desk.run({ kind: "expire", lease }, "owner").kind).toBe("changed");
    expect(desk.record(lease).holds.length).toBe(0);
  });
});
