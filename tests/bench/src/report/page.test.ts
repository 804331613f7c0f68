import { expect, it } from "vitest";
import { describeMachine } from "./machine.ts";
import { renderPage } from "./page.ts";
import { renderBars } from "./plot.ts";

const row = { benchmark: "pairs", name: "a < b", measures: "pairs", unit: "x", target: { atLeast: 3 } } as const;

it("a page holds tables, plots, settings and what is missing, and takes nothing from elsewhere", () => {
  const page = renderPage({
    startedAt: "2026-01-01T00:00:00.000Z",
    isQuick: false,
    machine: describeMachine(),
    systems: ["etcd 3"],
    benchmarks: [
      {
        name: "pairs",
        summary: "pairs & more",
        settings: ["64 in flight"],
        missing: ["ZooKeeper: no java"],
        rounds: [{ "tenure-grpc": { rate: 10, "cpu client": 0.5, "memory client": 1_048_576 } }],
        rows: [{ ...row, median: 2, least: 1, greatest: 3, isReached: false }],
        shares: { "tenure-grpc": 0.25 },
      },
    ],
  });
  for (const part of [
    "<svg",
    "a &lt; b",
    "pairs &amp; more",
    "64 in flight",
    "missing: ZooKeeper: no java",
    "etcd 3",
    "of the limit, %",
  ]) {
    expect(page).toContain(part);
  }
  expect(page).toContain('<td class="missed">≥ 3.00 x missed</td>');
  expect(page).toContain("0 of 1 rows reach their target; not: pairs/a &lt; b");
  expect(page).not.toMatch(/(src|href)=/);
});

it("a plot leaves out what has no number, and is empty without any", () => {
  const bar = { label: "none", kind: "etcd", value: Number.NaN, least: Number.NaN, greatest: Number.NaN };
  expect(renderBars("rates", [bar])).toBe("");
  const picture = renderBars("rates", [bar, { ...bar, label: "some", value: 5, least: 4, greatest: 10 }]);
  expect(picture.match(/<rect/g)).toHaveLength(1);
  expect(picture).toContain('width="260.0"');
});
