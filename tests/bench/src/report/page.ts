import type { BenchmarkResult, RowResult } from "../runner.ts";
import { type Bar, escapeText, renderBars } from "./plot.ts";
import type { RunResult } from "./results.ts";
import { byProcess, type SideSummary, summarizeSides } from "./sides.ts";
import { inUnit, renderSummary, targetText } from "./table.ts";

const style = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; }
.reached { color: #17692f; } .missed { color: #b3261e; font-weight: 600; } .settings { color: #555; font-size: 90%; }
svg { display: block; margin: 1rem 0; max-width: 100%; height: auto; font: 12px system-ui, sans-serif; }
.title { font-weight: 600; } .label { text-anchor: end; } .spread { stroke: #222; stroke-width: 1.5; }
.tenure { fill: #3b6fd4; } .etcd { fill: #d98324; } .zookeeper { fill: #7a9a3a; } .raw { fill: #8a8a8a; }
`;

/** A run as a page of its own: tables, plots and settings, without anything from elsewhere. */
export function renderPage(result: RunResult): string {
  const { benchmarks, machine, startedAt, systems } = result;
  const memory = `${(machine.memoryBytes / 2 ** 30).toFixed(0)} GiB`;
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tenure, measured</title>',
    `<style>${style}</style></head><body><h1>Tenure, measured</h1>`,
    `<p>${escapeText(startedAt)}${result.isQuick ? ", a quick run" : ""}. ${escapeText(machine.processor)}, ${machine.cores} cores, `,
    `${memory}, ${escapeText(machine.system)}, Node.js ${machine.node}, load ${machine.load[0]?.toFixed(1)} at the start.</p>`,
    ...systems.map((line) => `<p class="settings">${escapeText(line)}</p>`),
    `<p><strong>${escapeText(renderSummary(benchmarks))}</strong></p>`,
    ...benchmarks.map(renderBenchmark),
    "</body></html>",
  ].join("\n");
}

function renderBenchmark(benchmark: BenchmarkResult): string {
  const { missing, name, rounds, rows, settings, shares, summary } = benchmark;
  const sides = summarizeSides(benchmark).filter(({ medians }) => medians.rate !== undefined);
  const bars = (figure: string): readonly Bar[] => sides.map((side) => barOf(benchmark, side, figure));
  return [
    `<h2>${escapeText(name)}</h2><p>${escapeText(summary)}; ${rounds.length} rounds.</p>`,
    ...missing.map((peer) => `<p class="missed">missing: ${escapeText(peer)}</p>`),
    `<ul class="settings">${settings.map((line) => `<li>${escapeText(line)}</li>`).join("")}</ul>`,
    "<table><tr><th>row</th><th>median</th><th>spread</th><th>target</th></tr>",
    ...rows.map(renderRow),
    "</table>",
    renderBars("operations a second", bars("rate")),
    renderBars("p50, ms", bars("p50Ms")),
    renderBars("p99, ms", bars("p99Ms")),
    renderBars("of the limit, %", Object.entries(shares).map(shareBar)),
    sides.length === 0 ? "" : renderCosts(sides),
  ].join("\n");
}

function renderRow({ greatest, isReached, least, measures, median, name, target, unit }: RowResult): string {
  const verdict = isReached === undefined ? "" : isReached ? "reached" : "missed";
  const bound = target === undefined ? "" : `${targetText(target, unit)} ${verdict}`;
  return [
    `<tr title="${escapeText(measures)}"><td>${escapeText(name)}</td><td>${inUnit(median, unit)}</td>`,
    `<td>${inUnit(least, unit)} to ${inUnit(greatest, unit)}</td><td class="${verdict}">${bound}</td></tr>`,
  ].join("");
}

/** CPU of each process per 1,000 operations, and its memory. */
function renderCosts(sides: readonly SideSummary[]): string {
  const lines = sides.flatMap(({ medians, name }) => {
    const memory = new Map(byProcess(medians, "memory"));
    return byProcess(medians, "cpu").map(
      ([process, cpu], index) =>
        `<tr><td>${index === 0 ? escapeText(name) : ""}</td><td>${escapeText(process)}</td><td>${cpu.toPrecision(3)}</td>` +
        `<td>${((memory.get(process) ?? 0) / 1_048_576).toFixed(0)}</td></tr>`,
    );
  });
  const header = "<tr><th>side</th><th>process</th><th>CPU s per 1,000</th><th>memory, MiB</th></tr>";
  return `<details><summary>what it cost</summary><table>${header}${lines.join("\n")}</table></details>`;
}

function barOf({ rounds }: BenchmarkResult, { medians, name }: SideSummary, figure: string): Bar {
  const values = rounds.flatMap((round) => round[name]?.[figure] ?? []);
  const kind = /^(tenure|etcd|zookeeper)/.exec(name)?.[0] ?? "raw";
  return {
    label: name,
    kind,
    value: medians[figure] ?? Number.NaN,
    least: Math.min(...values),
    greatest: Math.max(...values),
  };
}

/** Only sides of Tenure have a share. */
function shareBar([label, share]: readonly [string, number]): Bar {
  const value = 100 * share;
  return { label, kind: "tenure", value, least: value, greatest: value };
}
