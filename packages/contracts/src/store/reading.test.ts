import { describe, expect, it } from "vitest";
import { Reading, shown } from "./reading.ts";

describe("a reading", () => {
  it("refuses with every broken rule, and says that nothing was applied", () => {
    const reading = new Reading();
    expect([reading.isBroken, reading.refusal()]).toEqual([false, undefined]);
    reading.reject("lease", "is required", "absent");
    reading.rejectAll([
      { field: "lease", rule: "must be legal", value: '"/"' },
      { field: "spec.mode", rule: "must be known", value: "9" },
    ]);
    expect(reading.refusal()).toMatchObject({
      code: "INVALID_ARGUMENT",
      reason: "INVALID_FIELD",
      message: "lease is required (got absent); spec.mode must be known (got 9)",
      details: { applied: "NO" },
    });
  });

  it("tells a bounded number of broken rules", () => {
    const reading = new Reading();
    for (let place = 0; place < 5_000; place++) reading.reject(`items[${place}]`, "is required", "absent");
    expect(reading.violations).toHaveLength(64);
  });

  it("shows a text quoted and cut short", () => {
    expect(shown('a"b')).toBe('"a\\"b"');
    expect(shown("x".repeat(100))).toHaveLength(83);
  });
});
