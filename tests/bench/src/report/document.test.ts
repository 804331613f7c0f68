import { expect, it } from "vitest";
import { replaceResult } from "./document.ts";
import { describeMachine } from "./machine.ts";

const row = { benchmark: "pairs", name: "ratio", measures: "pairs", unit: "x", target: { atLeast: 3 } } as const;
const result = {
  startedAt: "2026-01-01T00:00:00.000Z",
  isQuick: false,
  machine: describeMachine(),
  systems: ["etcd 3"],
  benchmarks: [
    {
      name: "pairs",
      summary: "pairs",
      settings: [],
      missing: ["ZooKeeper: no java"],
      rounds: [{ "tenure-grpc": { rate: 10, p50Ms: 1, p99Ms: 2, "cpu client": 0.5, "cpu servers": 0.1 } }],
      rows: [{ ...row, median: 2, least: 1, greatest: 3, isReached: false }],
      shares: { "tenure-grpc": 0.25 },
    },
  ],
};

it("a result takes the place of the one before, and leaves the rest as it was", () => {
  const document = "# How\n<!-- last result: begin -->\nold\n<!-- last result: end -->\nThe end\n";
  const once = replaceResult(document, result);
  expect(once).toContain("| ratio | 2.00 x | 1.00 x to 3.00 x | ≥ 3.00 x | **missed** |");
  expect(once).toContain("| tenure-grpc | 10.0 | 10.0 to 10.0 | 1.00 | 2.00 | 0.500 | 0.100 | 0.00 | 25.0 % |");
  expect(once).toContain("Missing: ZooKeeper: no java.");
  expect(once).not.toContain("old");
  expect([once.startsWith("# How\n"), once.endsWith("\nThe end\n")]).toEqual([true, true]);
  expect(replaceResult(once, result)).toBe(once);
  expect(() => replaceResult("# How\n", result)).toThrow("has no");
});
