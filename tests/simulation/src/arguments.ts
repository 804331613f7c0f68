import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

/** What a simulation is asked to do. */
export interface SimulationArguments {
  readonly seeds: number;
  readonly from: number;
  /** Places of the incidents to keep; undefined keeps all. */
  readonly keep: readonly number[] | undefined;
  /** How many threads share the seeds. */
  readonly jobs: number;
}

/** What `--help` says. */
export const usage = `usage: npm run simulate -- [options]

Runs a whole deployment in one process through seeded faults and checks it after every step.

  --seeds N            how many seeds, each a run of its own (default 100)
  --from N             the first of them (default 1)
  --jobs N             threads that share them (default: one for each core)
  --keep 1,4|none      leaves out all incidents but these, as a failure prints it
  --help               this text

Exits with 0 when nothing was violated, 1 when something was, 2 when the command line makes no sense.`;

/** Reads `--seeds N --from N --keep 1,4 --jobs N`; throws when it cannot. */
export function readArguments(argv: readonly string[]): SimulationArguments {
  const text = { type: "string" } as const;
  const options = { seeds: text, from: text, keep: text, jobs: text };
  const { values } = parseArgs({ args: [...argv], options });
  const keep = values.keep === "none" ? [] : values.keep?.split(",").map((place) => whole("keep", place, 0));
  const seeds = whole("seeds", values.seeds ?? "100", 1);
  const jobs = Math.min(seeds, whole("jobs", values.jobs ?? String(availableParallelism()), 1));
  return { seeds, from: whole("from", values.from ?? "1", 0), keep, jobs };
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`--${name} must be a whole number from ${least} on (got ${JSON.stringify(text)})`);
}
