import type { EndOfTerm, Hold } from "../record/hold.ts";
import { remainingMs } from "../record/position.ts";
import { hasAnswered, untilSilentMs, untilStaleMs } from "./answer.ts";
import { isAhead } from "./criterion.ts";
import type { ElectionDecision } from "./decision.ts";
import { orSoon } from "./keep.ts";
import { bettersOf, heldBackMs, markFor, wouldStay } from "./preemption.ts";
import { conclude, expectedRevisionOf, type Situation } from "./situation.ts";
import type { Standing } from "./standing.ts";

/**
 * Decides about a term that is asked to end: sees that the named successor is still there and still the best, and lets
 * the holder go on if it is not. An operator's mark is kept while its successor is there, whatever its rank.
 */
export function decideHandOver(
  situation: Situation,
  hold: Hold,
  holder: Standing | undefined,
  mark: EndOfTerm,
): ElectionDecision {
  const { now, ranking, strategy, view } = situation;
  const { preferredHolder } = mark;
  const dueMs = orSoon(situation, remainingMs(hold.renewal, hold.leaseDurationMs, now));
  const isCoordinators = mark.decisionId !== "";
  const reason = `${hold.holder} is asked to finish${preferredHolder === "" ? "" : ` for ${preferredHolder}`}`;
  const base = { outcome: "endOfTerm", trigger: "timer", reason, winner: preferredHolder } as const;
  if (preferredHolder === "" && !isCoordinators) return conclude(situation, { ...base, lookAgainMs: dueMs });

  const successor = ranking.chosen.find(({ candidate }) => candidate.name === preferredHolder);
  const betters = holder === undefined ? [] : bettersOf(situation, holder);
  const ready = betters.filter(({ answer, candidate }) => hasAnswered(answer) && heldBackMs(candidate, now) === 0);
  const isWanted = successor !== undefined && (!isCoordinators || betters.includes(successor));
  if (!isWanted) return replaceSuccessor(situation, hold, holder, isCoordinators ? ready : [], preferredHolder);
  const ahead = ready.find(({ merits }) => isAhead(merits, successor.merits, strategy));
  if (isCoordinators && ahead !== undefined && holder !== undefined && wouldStay(situation, ahead)) {
    return markFor(situation, hold, holder, ahead);
  }
  if (successor.answer === "notAsked") {
    const candidates = [preferredHolder];
    return conclude(situation, {
      ...base,
      outcome: "pinged",
      action: { kind: "ping", candidates },
      reason: `asks ${preferredHolder} whether it is still there to follow`,
    });
  }
  const isAwaited = successor.answer === "awaited";
  const staleMs = isAwaited
    ? untilSilentMs(successor.candidate, view, now)
    : untilStaleMs(successor.candidate, view, now);
  return conclude(situation, { ...base, lookAgainMs: Math.min(dueMs, staleMs) });
}

/** The named successor is gone or no longer better: name the next who is, or let the holder go on (statement 74). */
function replaceSuccessor(
  situation: Situation,
  hold: Hold,
  holder: Standing | undefined,
  ready: readonly Standing[],
  former: string,
): ElectionDecision {
  const [next] = ready;
  if (next !== undefined && holder !== undefined && wouldStay(situation, next)) {
    return markFor(situation, hold, holder, next);
  }
  const expectedRevision = expectedRevisionOf(situation.record);
  const reason = `${hold.holder} goes on: ${former} is no longer there to follow, or no longer better`;
  const action = { kind: "clearEndOfTerm", expectedRevision } as const;
  return conclude(situation, { outcome: "endOfTermCleared", trigger: "successorGone", action, reason });
}
