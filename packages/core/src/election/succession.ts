import type { Hold } from "../record/hold.ts";
import { remainingMs } from "../record/position.ts";
import type { ElectionDecision } from "./decision.ts";
import { decideHandOver } from "./hand-over.ts";
import { keep, orSoon } from "./keep.ts";
import { decidePreemption } from "./preemption.ts";
import type { Situation } from "./situation.ts";

/**
 * Decides about a term that a coordinator gave: end it for a better candidate that has answered, see that the named
 * successor is still there, and otherwise leave it alone.
 */
export function decideSuccession(situation: Situation, hold: Hold): ElectionDecision {
  const { now, ranking, record } = situation;
  const dueMs = remainingMs(hold.renewal, hold.leaseDurationMs, now);
  const mark = record.endOfTerm?.token === hold.token ? record.endOfTerm : undefined;
  const holder = [...ranking.chosen, ...ranking.excluded].find(({ isHolder }) => isHolder);
  if (mark !== undefined) return decideHandOver(situation, hold, holder, mark);
  const decision = holder === undefined ? undefined : decidePreemption(situation, hold, holder);
  return decision ?? keep(situation, orSoon(situation, dueMs));
}
