import { describe, expect, it } from "vitest";
import { SharedInstants } from "./shared-instants.ts";

describe("instants in shared memory", () => {
  it("are seen by whoever has the pages, to the microsecond below", () => {
    const writer = new SharedInstants();
    const reader = new SharedInstants();
    reader.addPage(writer.makePage());
    writer.set(0, 1_234.5678);
    writer.set(4_095, 9_007_199_254.25);
    expect(reader.get(0)).toBe(1_234.567);
    expect(reader.get(4_095)).toBe(9_007_199_254.25);
  });

  it("tell what is not known from what is, and places that do not exist", () => {
    const instants = new SharedInstants();
    instants.makePage();
    instants.set(1, Number.NEGATIVE_INFINITY);
    expect(instants.get(1)).toBe(Number.NEGATIVE_INFINITY);
    expect(() => instants.get(4_096)).toThrow("there is no slot 4096 among 4096");
    instants.makePage();
    instants.set(4_096, -5);
    expect(instants.get(4_096)).toBe(-5);
  });
});
