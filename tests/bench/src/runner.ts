import {
  type Benchmark,
  type Figures,
  type Row,
  type RunOptions,
  type Side,
  type Target,
  warmUpTurns,
} from "./benchmark.ts";
import { sharesOf } from "./share.ts";
import { median, spread } from "./statistics.ts";
import { MissingPeer } from "./world/system.ts";

/** A row after all rounds. */
export interface RowResult {
  readonly benchmark: string;
  readonly name: string;
  readonly measures: string;
  readonly unit: Row["unit"];
  readonly target: Target | undefined;
  readonly median: number;
  readonly least: number;
  readonly greatest: number;
  /** Undefined when the row has no target. */
  readonly isReached: boolean | undefined;
}

/** A benchmark after all rounds, with the raw figures of every round and side. */
export interface BenchmarkResult {
  readonly name: string;
  readonly summary: string;
  readonly settings: readonly string[];
  /** Why sides could not be measured. */
  readonly missing: readonly string[];
  readonly rounds: readonly Readonly<Record<string, Figures>>[];
  readonly rows: readonly RowResult[];
  /** What sides have of their limits, where these were measured before. */
  readonly shares: Readonly<Record<string, number>>;
}

/**
 * Starts every side, warms them up and measures them in turns for `rounds` rounds, and ends them again. `limits`: the
 * rounds of the benchmark that measures what is there, if the run has it.
 */
export async function runBenchmark(
  benchmark: Benchmark,
  rounds: number,
  options: RunOptions,
  limits: BenchmarkResult["rounds"] = [],
): Promise<BenchmarkResult> {
  const { name, sides, summary } = benchmark;
  const running: RunningSide[] = [];
  const missing = new Set<string>();
  try {
    for (const { name: sideName, start } of sides) {
      options.tell(`${name}: starting ${sideName}`);
      const side = await start(options).catch((error: unknown) => {
        if (!(error instanceof MissingPeer)) throw error;
        missing.add(error.message);
      });
      if (side !== undefined) running.push({ name: sideName, side });
    }
    await warmUpInTurns(name, running, options);
    const measured = await measureInTurns(benchmark, running, rounds, options);
    const rows = benchmark.rows.map((row) => resultOf(name, row, measured));
    const shares = sharesOf(sides, measured, limits);
    const settings = benchmark.settings(options);
    return { name, summary, settings, missing: [...missing], rounds: measured, rows, shares };
  } finally {
    for (const { side } of running.toReversed()) await side[Symbol.asyncDispose]();
    await options.systems.endClusters();
  }
}

/** What is left of a benchmark that broke down: why, and that none of its rows was measured. The others still count. */
export function brokenDown(benchmark: Benchmark, options: RunOptions, thrown: unknown): BenchmarkResult {
  const { name, rows, summary } = benchmark;
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  options.tell(`${name}: broke down: ${why}`);
  const unmeasured = rows.map((row) => resultOf(name, row, []));
  const settings = benchmark.settings(options);
  return { name, summary, settings, missing: [why], rounds: [], rows: unmeasured, shares: {} };
}

interface RunningSide {
  readonly name: string;
  readonly side: Side;
}

async function warmUpInTurns(name: string, running: readonly RunningSide[], { tell }: RunOptions): Promise<void> {
  const cold = running.filter(({ side }) => side.warmUp !== undefined);
  if (cold.length > 0) tell(`${name}: warming up`);
  for (let turn = 0; turn < warmUpTurns; turn += 1) {
    for (const { side } of cold) await side.warmUp?.();
  }
}

async function measureInTurns(
  { mostRounds, name }: Benchmark,
  running: readonly RunningSide[],
  rounds: number,
  options: RunOptions,
): Promise<readonly Readonly<Record<string, Figures>>[]> {
  const measured: Record<string, Figures>[] = [];
  const count = Math.min(rounds, mostRounds ?? rounds);
  for (let round = 0; round < count; round += 1) {
    options.tell(`${name}: round ${round + 1} of ${count}`);
    const figures: Record<string, Figures> = {};
    // Each side is first in every other round, so that neither profits from the place.
    for (const { name: sideName, side } of round % 2 === 0 ? running : running.toReversed()) {
      figures[sideName] = await side.measure(round);
    }
    measured.push(figures);
  }
  return measured;
}

/** A row's numbers over all rounds; its median is what the target is compared with. */
export function resultOf(benchmark: string, row: Row, rounds: readonly Readonly<Record<string, Figures>>[]): RowResult {
  const { measures, name, target, unit } = row;
  const values = rounds.map((round) => row.read(round)).filter((value) => value !== undefined);
  const middle = median(values);
  const isReached = target === undefined ? undefined : reaches(middle, target);
  return { benchmark, name, measures, unit, target, median: middle, ...spread(values), isReached };
}

/** Whether a number keeps a bound; one that could not be measured does not. */
export function reaches(value: number, target: Target): boolean {
  return "atMost" in target ? value <= target.atMost : value >= target.atLeast;
}
