import type { Hold } from "../record/hold.ts";
import type { ElectionDecision } from "./decision.ts";
import { decideHandOver } from "./hand-over.ts";
import { keep } from "./keep.ts";
import { decidePreemption } from "./preemption.ts";
import type { Situation } from "./situation.ts";

/**
 * Decides about a term that a coordinator gave: end it for a better candidate that has answered, see that the named
 * successor is still there, and otherwise leave it alone.
 */
export function decideSuccession(situation: Situation, hold: Hold): ElectionDecision {
  const { ranking, record } = situation;
  const mark = record.endOfTerm?.token === hold.token ? record.endOfTerm : undefined;
  const holder = [...ranking.chosen, ...ranking.excluded].find(({ isHolder }) => isHolder);
  if (mark !== undefined) return decideHandOver(situation, hold, holder, mark);
  const decision = holder === undefined ? undefined : decidePreemption(situation, hold, holder);
  // When the term is over the log says so: nothing is gained by looking before.
  return decision ?? keep(situation, situation.view.timing.longestLookMs);
}
