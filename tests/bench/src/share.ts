import type { Benchmark, Figures } from "./benchmark.ts";
import { median } from "./statistics.ts";

type Rounds = readonly Readonly<Record<string, Figures>>[];

/**
 * How much of what is physically there each side gets, by its name: 1 is all of it. `limits` are the rounds of the
 * benchmark of that name; a side whose limit was not measured has no share.
 */
export function sharesOf(sides: Benchmark["sides"], rounds: Rounds, limits: Rounds): Readonly<Record<string, number>> {
  const shares: Record<string, number> = {};
  for (const { limit, name } of sides) {
    if (limit === undefined) continue;
    const own = medianOf(rounds, name, limit.figure);
    const bound = limit.sides.reduce((sum, side) => sum + medianOf(limits, side, limit.figure), 0);
    const share = limit.figure === "rate" ? own / bound : bound / own;
    if (Number.isFinite(share)) shares[name] = share;
  }
  return shares;
}

function medianOf(rounds: Rounds, side: string, figure: string): number {
  return median(rounds.flatMap((round) => round[side]?.[figure] ?? []));
}
