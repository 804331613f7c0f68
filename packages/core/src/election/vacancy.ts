import { formatDuration } from "@tenure/kernel";
import { remainingMs } from "../record/position.ts";
import { hasAnswered, untilReaskMs, untilSilentMs } from "./answer.ts";
import { firstDifference } from "./criterion.ts";
import type { ElectionAction, ElectionDecision, ElectionTrigger } from "./decision.ts";
import { conclude, expectedRevisionOf, isStrategyStale, namesOf, type Situation } from "./situation.ts";
import type { Standing } from "./standing.ts";
import { comparison } from "./table.ts";

/**
 * Decides about a lease that nobody holds and nobody was chosen for: elect the best that has answered, as soon as
 * nobody who might be better is still to answer.
 */
export function decideVacancy(situation: Situation): ElectionDecision {
  const { now, ranking, record, view } = situation;
  const trigger = triggerOf(situation);
  const order = preferredFirst(ranking.chosen, record.preferredHolder);
  const best = order.find(({ answer }) => hasAnswered(answer));
  const open = best === undefined ? order : order.slice(0, order.indexOf(best));
  if (best !== undefined && open.length === 0) return elect(situation, best, order, trigger);
  const unasked = open.filter(({ answer }) => answer === "notAsked");
  if (unasked.length > 0) return ask(situation, unasked, trigger);
  const [next] = open;
  if (next === undefined) return reask(situation, trigger);
  const waitMs = Math.min(...open.map(({ candidate }) => untilSilentMs(candidate, view, now)));
  const reason = `waits for the answer of ${namesOf(open).join(", ")}`;
  const expectedLeader = next.candidate.name;
  return conclude(situation, { outcome: "pinged", trigger, reason, expectedLeader, lookAgainMs: waitMs });
}

/** A named successor that can be chosen goes before all others. */
function preferredFirst(chosen: readonly Standing[], preferredHolder: string): readonly Standing[] {
  const preferred = chosen.filter(({ candidate }) => candidate.name === preferredHolder);
  return [...preferred, ...chosen.filter((standing) => !preferred.includes(standing))];
}

function triggerOf({ record }: Situation): ElectionTrigger {
  if (record.pending !== undefined) return "notAccepted";
  switch (record.lastEndReason) {
    case "released":
    case "preempted":
    case "steppedDown":
      return "released";
    case "expired":
    case "ended":
      return "expired";
    case "notAccepted":
      return "notAccepted";
    default:
      return "vacant";
  }
}

function elect(
  situation: Situation,
  best: Standing,
  order: readonly Standing[],
  trigger: ElectionTrigger,
): ElectionDecision {
  const { now, record, strategy } = situation;
  const winner = best.candidate.name;
  const delayMs =
    record.lockDelay === undefined ? 0 : remainingMs(record.lockDelay.from, record.lockDelay.delayMs, now);
  if (delayMs > 0) {
    const reason = `nothing is granted for another ${formatDuration(Math.ceil(delayMs))}, the lock delay of the last term`;
    return conclude(situation, { outcome: "nobody", trigger, reason, expectedLeader: winner, lookAgainMs: delayMs });
  }
  const action: ElectionAction = {
    kind: "elect",
    candidate: winner,
    expectedRevision: expectedRevisionOf(record),
    ...(isStrategyStale(record, strategy) ? { strategy } : undefined),
  };
  return conclude(situation, {
    outcome: "elected",
    trigger,
    action,
    winner,
    reason: whyElected(situation, best, order),
  });
}

function whyElected({ record, strategy }: Situation, best: Standing, order: readonly Standing[]): string {
  const { merits } = best;
  if (merits.name === record.preferredHolder) return `${merits.name} is elected: it was named to follow`;
  const other = order[order.indexOf(best) + 1];
  if (other === undefined) return `${merits.name} is elected: no other candidate has answered`;
  const criterion = firstDifference(merits, other.merits, strategy)?.criterion;
  return `${merits.name} is elected before ${comparison(merits, other.merits, criterion)}`;
}

function ask(situation: Situation, unasked: readonly Standing[], trigger: ElectionTrigger): ElectionDecision {
  const candidates = namesOf(unasked);
  const expectedLeader = candidates[0] ?? "";
  const reason = `asks ${candidates.join(", ")} for a sign of life`;
  return conclude(situation, {
    outcome: "pinged",
    trigger,
    action: { kind: "ping", candidates },
    reason,
    expectedLeader,
  });
}

/** Nobody answered: ask again, later and later, so that a lease is never forgotten (statement 59). */
function reask(situation: Situation, trigger: ElectionTrigger): ElectionDecision {
  const { now, ranking, view } = situation;
  const silent = ranking.excluded.filter(({ exclusion }) => exclusion === "silent");
  const waits = silent.map(({ candidate }) => untilReaskMs(candidate, view, now));
  const due = silent.filter((_, place) => waits[place] === 0 && view.assumptions === undefined);
  if (due.length > 0) return ask(situation, due, trigger);
  const reason = silent.length > 0 ? "no candidate answers" : "no candidate can be chosen";
  return conclude(situation, {
    outcome: "nobody",
    trigger,
    reason,
    lookAgainMs: Math.min(...waits, view.timing.longestLookMs),
  });
}
