import type { Row, Target } from "../benchmark.ts";
import type { BenchmarkResult, RowResult } from "../runner.ts";

/** The results as people read them: one table for each benchmark, and what each row means. */
export function renderTables(results: readonly BenchmarkResult[]): string {
  return results.map(renderTable).join("\n");
}

function renderTable({ name, rows, rounds, settings, summary }: BenchmarkResult): string {
  const header = ["row", "median", "spread", "target", ""];
  const lines = rows.map((row) => [
    row.name,
    inUnit(row.median, row.unit),
    `${inUnit(row.least, row.unit)} to ${inUnit(row.greatest, row.unit)}`,
    row.target === undefined ? "" : targetText(row.target, row.unit),
    verdict(row),
  ]);
  const widths = header.map((text, column) => Math.max(text.length, ...lines.map((line) => line[column]?.length ?? 0)));
  const render = (line: readonly string[]) => line.map((text, column) => text.padEnd(widths[column] ?? 0)).join("  ");
  const notes = rows.map((row) => `  ${row.name}: ${row.measures}`);
  return [
    `${name}: ${summary} (${rounds.length} ${rounds.length === 1 ? "round" : "rounds"})`,
    ...settings.map((setting) => `  ${setting}`),
    "",
    ...[header, ...lines].map((line) => render(line).trimEnd()),
    "",
    ...notes,
    "",
  ].join("\n");
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

function targetText(target: Target, unit: Row["unit"]): string {
  return "atMost" in target ? `≤ ${inUnit(target.atMost, unit)}` : `≥ ${inUnit(target.atLeast, unit)}`;
}

/** A number with three significant digits and its unit. */
export function inUnit(value: number, unit: Row["unit"]): string {
  const text = Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
  return unit === "x" ? `${text} x` : `${text} ${unit}`;
}
