import type { Row, Target } from "../benchmark.ts";
import type { BenchmarkResult, RowResult } from "../runner.ts";
import { serverMemory, summarizeSides } from "./sides.ts";

/** The results as people read them: one table for each benchmark, and what each row means. */
export function renderTables(results: readonly BenchmarkResult[]): string {
  return results.map(renderTable).join("\n");
}

function renderTable(result: BenchmarkResult): string {
  const { missing, name, rounds, rows, settings, summary } = result;
  const lines = rows.map((row) => [
    row.name,
    inUnit(row.median, row.unit),
    `${inUnit(row.least, row.unit)} to ${inUnit(row.greatest, row.unit)}`,
    row.target === undefined ? "" : targetText(row.target, row.unit),
    verdict(row),
  ]);
  return [
    `${name}: ${summary} (${rounds.length} ${rounds.length === 1 ? "round" : "rounds"})`,
    ...settings.map((setting) => `  ${setting}`),
    ...missing.map((peer) => `  MISSING ${peer}`),
    "",
    ...renderSides(result),
    ...aligned([["row", "median", "spread", "target", ""], ...lines]),
    "",
    ...rows.map((row) => `  ${row.name}: ${row.measures}`),
    "",
  ].join("\n");
}

/** What each side did and what it cost, for benchmarks whose sides are clients of whole systems. */
function renderSides(result: BenchmarkResult): readonly string[] {
  const sides = summarizeSides(result).filter(({ medians }) => medians.rate !== undefined);
  if (sides.length === 0) return [];
  const header = [
    "side",
    "a second",
    "spread",
    "p50",
    "p99",
    "client CPU",
    "server CPU",
    "server memory",
    "of the limit",
  ];
  const lines = sides.map(({ medians, name, rates }) => [
    name,
    threeDigits(medians.rate ?? Number.NaN),
    `${threeDigits(rates.least)} to ${threeDigits(rates.greatest)}`,
    inUnit(medians.p50Ms ?? Number.NaN, "ms"),
    inUnit(medians.p99Ms ?? Number.NaN, "ms"),
    `${threeDigits(medians["cpu client"] ?? Number.NaN)} s/1000`,
    `${threeDigits(medians["cpu servers"] ?? Number.NaN)} s/1000`,
    `${threeDigits(serverMemory(medians) / 1_048_576)} MiB`,
    percent(result.shares[name]),
  ]);
  return [...aligned([header, ...lines]), ""];
}

function aligned(lines: readonly (readonly string[])[]): readonly string[] {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** The one line that a check ends with. */
export function renderSummary(results: readonly BenchmarkResult[]): string {
  const judged = results.flatMap(({ rows }) => rows).filter(({ isReached }) => isReached !== undefined);
  const missed = judged.filter(({ isReached }) => isReached === false);
  const names = missed.map(({ benchmark, name }) => `${benchmark}/${name}`).join(", ");
  const count = `${judged.length - missed.length} of ${judged.length} rows reach their target`;
  return missed.length === 0 ? count : `${count}; not: ${names}`;
}

function verdict({ isReached }: RowResult): string {
  return isReached === undefined ? "" : isReached ? "reached" : "MISSED";
}

/** A bound as people write it. */
export function targetText(target: Target, unit: Row["unit"]): string {
  return "atMost" in target ? `≤ ${inUnit(target.atMost, unit)}` : `≥ ${inUnit(target.atLeast, unit)}`;
}

/** A number with three significant digits and its unit. */
export function inUnit(value: number, unit: Row["unit"]): string {
  return `${threeDigits(value)} ${unit}`;
}

/** A share as people read it; nothing for none. */
export function percent(share: number | undefined): string {
  return share === undefined ? "" : `${threeDigits(100 * share)} %`;
}

/** A number with three significant digits, or all before the point. */
export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return "none";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
