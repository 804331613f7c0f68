import { type RunResult, run } from "./run.ts";
import type { Incident } from "./schedule.ts";
import type { WorldParts } from "./world.ts";

/** The least that still fails. */
export interface Shrunk {
  readonly result: RunResult;
  /** Places of the incidents that are left, in the schedule of the seed. */
  readonly kept: readonly number[];
}

/**
 * Takes incidents out of a failing schedule, one after the other, as long as the same invariant still breaks. Chance is
 * drawn for each purpose by itself, so what is left happens as it did before.
 */
export async function shrink(failed: RunResult, parts: WorldParts = {}): Promise<Shrunk> {
  const { incidents } = failed.schedule;
  let best: Shrunk = { result: failed, kept: incidents.map((_, index) => index) };
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const index of best.kept) {
      const kept = best.kept.filter((other) => other !== index);
      const schedule = { ...failed.schedule, incidents: keep(incidents, kept) };
      const result = await run(schedule, parts);
      if (result.violation?.invariant !== failed.violation?.invariant) continue;
      best = { result, kept };
      hasChanged = true;
    }
  }
  return best;
}

/** The incidents at the given places. */
export function keep(incidents: readonly Incident[], kept: readonly number[]): readonly Incident[] {
  return incidents.filter((_, index) => kept.includes(index));
}
