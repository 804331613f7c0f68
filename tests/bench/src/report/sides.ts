import type { Figures } from "../benchmark.ts";
import type { BenchmarkResult } from "../runner.ts";
import { median, spread } from "../statistics.ts";

/** One side of a benchmark over all rounds. */
export interface SideSummary {
  readonly name: string;
  /** The median of each figure. */
  readonly medians: Figures;
  /** The least and the greatest rate. */
  readonly rates: { readonly least: number; readonly greatest: number };
}

/** What each side did, in the order in which they were named. */
export function summarizeSides({ rounds }: Pick<BenchmarkResult, "rounds">): readonly SideSummary[] {
  const names = new Set(rounds.flatMap((round) => Object.keys(round)));
  return [...names].map((name) => {
    const each = rounds.map((round) => round[name]).filter((figures) => figures !== undefined);
    const figures = new Set(each.flatMap((figure) => Object.keys(figure)));
    const valuesOf = (figure: string) => each.flatMap((one) => one[figure] ?? []);
    const medians = Object.fromEntries([...figures].map((figure) => [figure, median(valuesOf(figure))]));
    return { name, medians, rates: spread(valuesOf("rate")) };
  });
}

/** Figures of processes by what they begin with: `cpu nats-server` under `cpu` is `nats-server`. */
export function byProcess(figures: Figures, kind: "cpu" | "memory"): readonly (readonly [string, number])[] {
  return Object.entries(figures).flatMap(([name, value]) =>
    name.startsWith(`${kind} `) && name !== "cpu servers" ? [[name.slice(kind.length + 1), value] as const] : [],
  );
}

/** The resident memory of all servers of a side. */
export function serverMemory(figures: Figures): number {
  return byProcess(figures, "memory").reduce((sum, [name, value]) => (name === "client" ? sum : sum + value), 0);
}
