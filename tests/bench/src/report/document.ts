import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { BenchmarkResult } from "../runner.ts";
import type { RunResult } from "./results.ts";
import { serverMemory, summarizeSides } from "./sides.ts";
import { inUnit, percent, renderSummary, targetText, threeDigits } from "./table.ts";

const path = fileURLToPath(new URL("../../../../docs/performance.md", import.meta.url));
const begin = "<!-- last result: begin -->";
const end = "<!-- last result: end -->";
const sideHeader = [
  "side",
  "a second",
  "spread",
  "p50 ms",
  "p99 ms",
  "client CPU",
  "server CPU",
  "server MiB",
  "of the limit",
];

/** Puts a run into `docs/performance.md`, in the place of the one before it. */
export async function documentResult(result: RunResult): Promise<void> {
  await writeFile(path, replaceResult(await readFile(path, "utf8"), result));
}

/** The document with another result between its two marks. */
export function replaceResult(document: string, result: RunResult): string {
  const [before, rest] = document.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`docs/performance.md has no ${begin} and ${end}`);
  return `${before}${begin}\n\n${renderMarkdown(result)}\n${end}${after}`;
}

/** A run as a section of a document. */
export function renderMarkdown({ benchmarks, isQuick, machine, startedAt, systems }: RunResult): string {
  const memory = `${(machine.memoryBytes / 2 ** 30).toFixed(0)} GiB`;
  const load = machine.load[0]?.toFixed(1);
  return [
    `${startedAt.slice(0, 10)}, ${isQuick ? "a quick run" : "a full run"}: ${machine.processor}, ${machine.cores} cores, ${memory}, ${machine.system}, Node.js ${machine.node}, load ${load} when it began.`,
    "",
    ...systems.map((line) => `- ${line}`),
    "",
    `**${renderSummary(benchmarks)}.**`,
    "",
    ...benchmarks.map(renderBenchmark),
  ].join("\n");
}

function renderBenchmark(benchmark: BenchmarkResult): string {
  const { missing, name, rounds, rows, shares, summary } = benchmark;
  const sides = summarizeSides(benchmark).filter(({ medians }) => medians.rate !== undefined);
  const rowLines = rows.map(({ greatest, isReached, least, median, name: row, target, unit }) => {
    const verdict = isReached === undefined ? "" : isReached ? "reached" : "**missed**";
    const bound = target === undefined ? "" : targetText(target, unit);
    return [row, inUnit(median, unit), `${inUnit(least, unit)} to ${inUnit(greatest, unit)}`, bound, verdict];
  });
  const sideLines = sides.map(({ medians, name: side, rates }) => [
    side,
    threeDigits(medians.rate ?? Number.NaN),
    `${threeDigits(rates.least)} to ${threeDigits(rates.greatest)}`,
    threeDigits(medians.p50Ms ?? Number.NaN),
    threeDigits(medians.p99Ms ?? Number.NaN),
    threeDigits(medians["cpu client"] ?? Number.NaN),
    threeDigits(medians["cpu servers"] ?? Number.NaN),
    threeDigits(serverMemory(medians) / 1_048_576),
    percent(shares[side]),
  ]);
  return [
    `### ${name}: ${summary} (${rounds.length} ${rounds.length === 1 ? "round" : "rounds"})`,
    "",
    ...missing.map((peer) => `Missing: ${peer}.\n`),
    ...table(["row", "median", "spread", "target", ""], rowLines),
    ...table(sideHeader, sideLines),
  ].join("\n");
}

function table(header: readonly string[], lines: readonly (readonly string[])[]): readonly string[] {
  if (lines.length === 0) return [];
  const rows = [header, header.map(() => "---"), ...lines];
  return [...rows.map((line) => `| ${line.join(" | ")} |`), ""];
}
