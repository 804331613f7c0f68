import type { RunResult } from "./run.ts";
import { describeIncident } from "./schedule.ts";
import type { Shrunk } from "./shrink.ts";

/** What is printed of a failing seed: what broke, the least that breaks it, and how to see it again. */
export function describeFailure({ kept, result }: Shrunk): string {
  const { schedule, steps, violation } = result;
  const { holders, partitions, profile, replicas, seed } = schedule;
  return [
    `seed ${seed} breaks ${violation?.invariant} at ${violation?.atMs} ms, step ${steps}:`,
    `  ${violation?.message}`,
    `  a world of ${profile.name}: ${replicas} replicas, ${partitions} partitions, ${holders} holders, and this:`,
    ...(schedule.incidents.length === 0 ? ["    nothing goes wrong"] : []),
    ...schedule.incidents.map((incident) => `    ${describeIncident(incident)}`),
    `  replay: npm run simulate -- --from ${seed} --seeds 1 --keep ${kept.join(",") || "none"}`,
  ].join("\n");
}

/** Sums of many runs. */
export interface Tally {
  seeds: number;
  steps: number;
  faults: number;
  terms: number;
  acknowledged: number;
  watched: number;
  violations: number;
}

/** Nothing yet. */
export function newTally(): Tally {
  return { seeds: 0, steps: 0, faults: 0, terms: 0, acknowledged: 0, watched: 0, violations: 0 };
}

/** Adds a run. */
export function count(tally: Tally, { acknowledged, faults, steps, terms, violation, watched }: RunResult): void {
  tally.seeds += 1;
  tally.steps += steps;
  tally.faults += faults;
  tally.terms += terms;
  tally.acknowledged += acknowledged;
  tally.watched += watched;
  if (violation !== undefined) tally.violations += 1;
}

/** The sums of several parts of a simulation. */
export function sum(tallies: readonly Tally[]): Tally {
  const total = newTally();
  for (const tally of tallies) {
    for (const key of Object.keys(total) as (keyof Tally)[]) total[key] += tally[key];
  }
  return total;
}

/** The last line of a simulation. */
export function describeTally({ acknowledged, faults, seeds, steps, terms, violations, watched }: Tally): string {
  const done = `${seeds} seeds, ${steps} steps, ${faults} faults injected, ${violations} violations`;
  return `${done} (${terms} terms, ${acknowledged} acknowledged changes, ${watched} watched)`;
}
