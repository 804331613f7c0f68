import { systemClock } from "@tenure/kernel";
import { readArguments } from "./arguments.ts";
import { documentResult } from "./report/document.ts";
import { describeMachine } from "./report/machine.ts";
import { writeResult } from "./report/results.ts";
import { renderSummary, renderTables } from "./report/table.ts";
import { benchmarksNamed } from "./rows/index.ts";
import { type BenchmarkResult, runBenchmark } from "./runner.ts";
import { pace } from "./world/client-side.ts";
import { Systems } from "./world/systems.ts";

const { isCheck, isDocument, isQuick, leases, names, nodeOptions, rounds } = readArguments(process.argv.slice(2));
const startedAt = new Date(systemClock.wall()).toISOString();
const machine = describeMachine();
const tell = (line: string) => process.stderr.write(`${line}\n`);
await using systems = new Systems(tell);
const options = { isQuick, leases, nodeOptions, systems, tell };

const benchmarks: BenchmarkResult[] = [];
for (const benchmark of benchmarksNamed(names, isQuick)) {
  const limits = benchmarks.find(({ name }) => name === "limits")?.rounds;
  benchmarks.push(await runBenchmark(benchmark, rounds, options, limits));
}

const { measureMs, warmUpMs } = pace(isQuick);
const paceLine = `every client: ${warmUpMs / 1_000} s of the same work before the first round, then ${measureMs / 1_000} s a round`;
const settings = [...systems.descriptions, paceLine];
const result = { startedAt, isQuick, machine, systems: settings, benchmarks };
const path = await writeResult(result);
if (isDocument) await documentResult(result);
process.stdout.write(
  `${machine.processor}, ${machine.cores} cores, Node.js ${machine.node}, load ${machine.load[0]}\n${settings.map((line) => `${line}\n`).join("")}\n`,
);
process.stdout.write(`${renderTables(benchmarks)}\n${path}\n${renderSummary(benchmarks)}\n`);
const isMissed = benchmarks.some(({ rows }) => rows.some(({ isReached }) => isReached === false));
if (isCheck && isMissed) process.exitCode = 1;
