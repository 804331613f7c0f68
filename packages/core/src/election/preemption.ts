import { formatDuration } from "@tenure/kernel";
import type { Hold } from "../record/hold.ts";
import { remainingMs } from "../record/position.ts";
import { hasAnswered, untilReaskMs, untilSilentMs } from "./answer.ts";
import { firstDifference, isAhead } from "./criterion.ts";
import type { ElectionDecision } from "./decision.ts";
import { keep, keepBecause } from "./keep.ts";
import { conclude, expectedRevisionOf, namesOf, type Situation } from "./situation.ts";
import { rankCandidates, type Standing } from "./standing.ts";
import { comparison } from "./table.ts";

/**
 * How much longer than its back-off a candidate that missed an accept must wait before a running term is ended for it.
 * Missing once more would cost a leader, where missing a vacant lease costs only time.
 */
const preemptionPatience = 16;

/** How many better candidates are looked at. Each costs a ranking of all under an expression that sees the holder. */
const mostConsidered = 16;

/** Ends a running term for a better candidate that has answered; undefined when there is none worth the change. */
export function decidePreemption(situation: Situation, hold: Hold, holder: Standing): ElectionDecision | undefined {
  const { now, record } = situation;
  const betters = bettersOf(situation, holder);
  const ready = betters.filter(({ candidate }) => heldBackMs(candidate, now) === 0).slice(0, mostConsidered);
  const usable = ready.filter((standing) => wouldStay(situation, standing));
  const [first] = usable;
  if (first === undefined)
    return ready.length > 0 ? keepInstead(situation, ready) : reaskBetter(situation, holder, betters);
  const youngMs = remainingMs(hold.granted, record.spec.minimumTermMs, now);
  if (youngMs > 0) {
    const reason = `${hold.holder} stays for another ${formatDuration(Math.ceil(youngMs))}, its minimum term`;
    const expectedLeader = first.candidate.name;
    const trigger = "betterCandidate";
    return keepBecause(situation, { trigger, reason, expectedLeader, lookAgainMs: youngMs });
  }
  const better = usable.find(({ answer }) => hasAnswered(answer));
  return confirm(situation, usable) ?? (better && markFor(situation, hold, holder, better));
}

/** Nobody who ranks before the holder would keep the lease, so none of them is asked and the holder stays. */
function keepInstead(situation: Situation, ready: readonly Standing[]): ElectionDecision {
  const [name] = namesOf(ready);
  const reason = `${situation.holder} stays: were ${name} the holder, the expression would at once rank another before it`;
  return keepBecause(situation, { trigger: "betterCandidate", reason });
}

/** Those that the holder would have to go for, the best first. */
export function bettersOf({ ranking, strategy }: Situation, holder: Standing): readonly Standing[] {
  const isBetter = ({ isHolder, merits }: Standing) =>
    !isHolder && (!holder.candidate.spec.isHealthy || isAhead(merits, holder.merits, strategy));
  return ranking.chosen.filter(isBetter);
}

/** Asks those who may be better than the best that has answered; undefined when nobody is open. */
function confirm(situation: Situation, usable: readonly Standing[]): ElectionDecision | undefined {
  const { now, view } = situation;
  const answered = usable.findIndex(({ answer }) => hasAnswered(answer));
  const open = answered === -1 ? usable : usable.slice(0, answered);
  const unasked = open.filter(({ answer }) => answer === "notAsked");
  const [first] = open;
  if (first === undefined) return undefined;
  const names = namesOf(unasked.length > 0 ? unasked : open);
  const base = { outcome: "pinged", trigger: "betterCandidate", expectedLeader: first.candidate.name } as const;
  if (unasked.length > 0) {
    const reason = `asks ${names.join(", ")} for a sign of life before the holder is asked to finish`;
    return conclude(situation, { ...base, action: { kind: "ping", candidates: names }, reason });
  }
  const lookAgainMs = Math.min(...open.map(({ candidate }) => untilSilentMs(candidate, view, now)));
  return conclude(situation, { ...base, reason: `waits for the answer of ${names.join(", ")}`, lookAgainMs });
}

/** Asks the holder to finish for a better candidate. */
export function markFor(situation: Situation, hold: Hold, holder: Standing, better: Standing): ElectionDecision {
  const { record, strategy } = situation;
  const winner = better.candidate.name;
  const criterion = firstDifference(better.merits, holder.merits, strategy)?.criterion;
  const why = holder.candidate.spec.isHealthy
    ? `${winner} is before ${comparison(better.merits, holder.merits, criterion)}`
    : `${hold.holder} says that it is unhealthy`;
  const expectedRevision = expectedRevisionOf(record);
  const action = { kind: "markEndOfTerm", token: hold.token, preferredHolder: winner, expectedRevision } as const;
  const reason = `${hold.holder} is asked to finish: ${why}`;
  return conclude(situation, { outcome: "endOfTerm", trigger: "betterCandidate", action, winner, reason });
}

/**
 * Whether a candidate would keep the lease if it led. An expression that looks at the holder can rank whoever does not
 * hold first; a term is ended only for one that nobody would then be better than, so such expressions cannot make the
 * leader go round in circles. One for whom no term is ended yet is nobody's rival.
 */
export function wouldStay({ now, strategy, view }: Situation, { candidate }: Standing): boolean {
  if (strategy.kind !== "expression") return true;
  const { chosen } = rankCandidates(view, strategy, candidate.name, now);
  const leader = chosen.find(({ isHolder }) => isHolder);
  if (leader === undefined) return false;
  return !chosen.some(
    (rival) => isAhead(rival.merits, leader.merits, strategy) && heldBackMs(rival.candidate, now) === 0,
  );
}

/** Ms for which a term is not ended for a candidate that missed an accept. */
export function heldBackMs({ coolDown, missedAccepts }: Standing["candidate"], now: number): number {
  if (missedAccepts === 0 || coolDown === undefined) return 0;
  return remainingMs(coolDown.from, coolDown.coolDownMs * preemptionPatience, now);
}

/** Silent candidates that would be better are asked again, later and later; nobody else is bothered (statement 76). */
function reaskBetter(
  situation: Situation,
  holder: Standing,
  betters: readonly Standing[],
): ElectionDecision | undefined {
  const { now, ranking, strategy, view } = situation;
  const silent = ranking.excluded.filter(
    ({ exclusion, merits }) => exclusion === "silent" && isAhead(merits, holder.merits, strategy),
  );
  const waits = silent.map(({ candidate }) => untilReaskMs(candidate, view, now, view.timing.longestReaskMs));
  const due = silent.filter((_, place) => waits[place] === 0 && view.assumptions === undefined);
  if (due.length > 0) {
    const candidates = namesOf(due);
    const reason = `asks ${candidates.join(", ")} again for a sign of life`;
    return conclude(situation, {
      outcome: "pinged",
      trigger: "timer",
      action: { kind: "ping", candidates },
      reason,
      expectedLeader: situation.holder,
    });
  }
  const heldBack = betters.map(({ candidate }) => heldBackMs(candidate, now));
  const lookAgainMs = Math.min(...waits, ...heldBack, view.timing.longestLookMs);
  return silent.length + betters.length === 0 ? undefined : keep(situation, lookAgainMs);
}
