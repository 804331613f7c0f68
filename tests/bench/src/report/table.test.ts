import { describe, expect, it } from "vitest";
import type { BenchmarkResult, RowResult } from "../runner.ts";
import { inUnit, renderSummary, renderTables } from "./table.ts";

function row(name: string, more: Partial<RowResult> = {}): RowResult {
  const numbers = { median: 1.234, least: 1, greatest: 2 };
  const bound = { target: { atMost: 1.3 }, isReached: true };
  return { benchmark: "growth", name, measures: `what ${name} is`, unit: "x", ...numbers, ...bound, ...more };
}

const result: BenchmarkResult = {
  name: "growth",
  summary: "few and many",
  settings: ["every write synced"],
  missing: [],
  rounds: [{}, {}],
  rows: [
    row("time"),
    row("start", { unit: "ms", median: 6_000, isReached: false }),
    row("free", { target: undefined, isReached: undefined }),
  ],
  shares: {},
};

describe("a table", () => {
  it("has a line for each row, its settings and what it means", () => {
    const text = renderTables([result]);
    expect(text).toContain("growth: few and many (2 rounds)");
    expect(text).toContain("every write synced");
    expect(text).toMatch(/^time +1\.23 x +1\.00 x to 2\.00 x +≤ 1\.30 x +reached$/m);
    expect(text).toMatch(/^start +6000 ms.*MISSED$/m);
    expect(text).toContain("  free: what free is");
  });

  it("has what a side gets of its limit, and nothing where that is not known", () => {
    const rounds = [{ tenure: { rate: 10 }, etcd: { rate: 2 } }];
    const text = renderTables([{ ...result, rounds, shares: { tenure: 0.345 } }]);
    expect(text).toMatch(/^tenure .*MiB +34\.5 %$/m);
    expect(text).toMatch(/^etcd .*MiB$/m);
  });

  it("ends with how many rows reach their target, and which do not", () => {
    expect(renderSummary([result])).toBe("1 of 2 rows reach their target; not: growth/start");
    expect(renderSummary([{ ...result, rows: [row("time")] }])).toBe("1 of 1 rows reach their target");
  });

  it("writes numbers with three digits", () => {
    expect([0.01234, 1.5, 99.44, 123.6, 12_345].map((value) => inUnit(value, "ms"))).toEqual([
      "0.0123 ms",
      "1.50 ms",
      "99.4 ms",
      "124 ms",
      "12345 ms",
    ]);
  });
});
