import { systemClock } from "@tenure/kernel";
import { readArguments } from "./arguments.ts";
import { warmUpTurns } from "./benchmark.ts";
import { helpText } from "./help.ts";
import { documentResult } from "./report/document.ts";
import { describeMachine } from "./report/machine.ts";
import { writeResult } from "./report/results.ts";
import { renderSummary, renderTables } from "./report/table.ts";
import { all, benchmarksNamed } from "./rows/index.ts";
import { type BenchmarkResult, brokenDown, runBenchmark } from "./runner.ts";
import { pace } from "./world/client-side.ts";
import { Systems } from "./world/systems.ts";

/** What the command line asks for; one that makes no sense is refused in a line. */
function understood() {
  try {
    const args = readArguments(process.argv.slice(2));
    return { ...args, chosen: benchmarksNamed(args.names, args.isQuick) };
  } catch (thrown) {
    process.stderr.write(
      `bench: ${thrown instanceof Error ? thrown.message : String(thrown)}; --help lists the options\n`,
    );
    process.exit(2);
  }
}

const { chosen, isCheck, isDocument, isHelp, isQuick, leases, nodeOptions, rounds } = understood();
if (isHelp) {
  process.stdout.write(helpText(all));
  process.exit(0);
}
const startedAt = new Date(systemClock.wall()).toISOString();
const machine = describeMachine();
const tell = (line: string) => process.stderr.write(`${line}\n`);
await using systems = new Systems(tell);
const options = { isQuick, leases, nodeOptions, systems, tell };

const benchmarks: BenchmarkResult[] = [];
for (const benchmark of chosen) {
  const limits = benchmarks.find(({ name }) => name === "limits")?.rounds;
  const running = runBenchmark(benchmark, rounds, options, limits);
  benchmarks.push(
    await running.catch((thrown: unknown) => {
      process.exitCode = 1;
      return brokenDown(benchmark, options, thrown);
    }),
  );
}

const { measureMs, warmUpMs } = pace(isQuick);
const paceLine = `every client: ${warmUpMs / 1_000} s of the same work in ${warmUpTurns} turns before the first round, then ${measureMs / 1_000} s a round`;
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
