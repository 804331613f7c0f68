import type { Profile } from "../profile.ts";
import { type RunResult, run, scheduleOf } from "../run.ts";
import type { WorldParts } from "../world.ts";

/** Runs seeds, a promising one first, until one breaks one of the invariants; undefined if none of them does. */
export async function hunt(
  parts: WorldParts,
  seeds: number,
  invariants: readonly string[],
  profile?: Profile,
  first = 1,
): Promise<RunResult | undefined> {
  const others = Array.from({ length: seeds }, (_, index) => index + 1);
  for (const seed of new Set([first, ...others])) {
    const result = await run(scheduleOf(seed, profile), parts);
    if (result.violation !== undefined && invariants.includes(result.violation.invariant)) return result;
  }
  return undefined;
}
