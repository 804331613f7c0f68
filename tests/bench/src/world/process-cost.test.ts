import { describe, expect, it } from "vitest";
import { costOf, cpuTicks, residentKilobytes } from "./process-cost.ts";

describe("the cost of a process", () => {
  it("is read past whatever its name holds", () => {
    const stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 11 0 100 1000 200";
    expect(cpuTicks(stat)).toBe(12);
    expect(residentKilobytes("Name:\tnode\nVmRSS:\t  123456 kB\nThreads:\t11\n")).toBe(123_456);
  });

  it("is that of a real process", async () => {
    const { cpuMs, memoryBytes } = await costOf(process.pid);
    expect(cpuMs).toBeGreaterThan(0);
    expect(memoryBytes).toBeGreaterThan(1_000_000);
  });
});
