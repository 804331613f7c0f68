import type { Profile } from "../profile.ts";
import { type RunResult, run, scheduleOf } from "../run.ts";
import type { WorldParts } from "../world.ts";

/** Runs seeds until one breaks one of the invariants; undefined if none of them does. */
export async function hunt(
  parts: WorldParts,
  seeds: number,
  invariants: readonly string[],
  profile?: Profile,
): Promise<RunResult | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const result = await run(scheduleOf(seed, profile), parts);
    if (result.violation !== undefined && invariants.includes(result.violation.invariant)) return result;
  }
  return undefined;
}
