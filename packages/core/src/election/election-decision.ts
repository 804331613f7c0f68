import { isLapsed } from "../decide/overdue.ts";
import type { Hold } from "../record/hold.ts";
import { remainingMs } from "../record/position.ts";
import type { Strategy } from "../record/strategy.ts";
import { consensusOf, reportConflict, shown } from "./conflict.ts";
import type { ElectionDecision } from "./decision.ts";
import { clearOwnMark } from "./keep.ts";
import { type Circumstances, conclude, expectedRevisionOf, isStrategyStale, type Situation } from "./situation.ts";
import { type Ranking, rankCandidates } from "./standing.ts";
import { decideSuccession } from "./succession.ts";
import { decideVacancy } from "./vacancy.ts";
import type { ElectionView } from "./view.ts";

/**
 * What a coordinator does about one lease, and why. Pure and total: it depends on the view and on `now` alone, remembers
 * nothing, and says when to look again whatever it decides, so that no election waits for an event that may never come.
 * It never elects while a term runs, and never chooses a candidate that has not answered.
 */
export function electionDecision(view: ElectionView, now: number): ElectionDecision {
  const { record } = view;
  const [hold] = record.holds;
  const holder = hold === undefined ? "" : (hold.details?.candidate ?? hold.holder);
  const consensus = consensusOf(view, now);
  const known: Circumstances = { view, record, now, holder };
  const situation = consensus.kind === "agreed" ? ranked(known, consensus.strategy) : undefined;
  if (hold !== undefined && !isElected(hold)) return leaveHolder(situation ?? known);
  if (hold !== undefined && (hold.revocation !== undefined || record.deletion !== undefined)) {
    const reason = `the term of ${hold.holder} may not be renewed and runs out`;
    return conclude(situation ?? known, { outcome: "kept", trigger: "timer", reason, lookAgainMs: untilOverMs(known) });
  }
  if (record.spec.mode === "counted") {
    const reason = "a counted lease has no single leader to elect";
    return conclude(situation ?? known, { outcome: "leftToOthers", trigger: "timer", reason });
  }
  if (consensus.kind === "conflict") return reportConflict(known, consensus.conflict);
  return situation === undefined ? nobody(known) : decideBy(situation, hold);
}

/** Ranked when somebody asks for it: what only waits for an accept does not. */
function ranked(known: Circumstances, strategy: Strategy): Situation {
  const { holder, now, record, view } = known;
  let ranking: Ranking | undefined;
  return {
    ...known,
    strategy,
    isOperators: record.strategy?.source === "operator",
    get ranking() {
      ranking ??= rankCandidates(view, strategy, holder, now);
      return ranking;
    },
  };
}

/** Whether a coordinator gave a term; a fallback counts as elected (rule 21). */
function isElected({ mode, origin }: Hold): boolean {
  return mode === "exclusive" && (origin === "elected" || origin === "fallback");
}

function decideBy(situation: Situation, hold: Hold | undefined): ElectionDecision {
  const { now, record, strategy } = situation;
  if (strategy.kind === "vendor" || strategy.kind === "noCoordination") return leaveToOthers(situation);
  if (hold !== undefined) return decideSuccession(situation, hold);
  const { pending } = record;
  if (pending === undefined || isLapsed(record, now)) return decideVacancy(situation);
  const leftMs = remainingMs(pending.from, pending.acceptWindowMs, now);
  const reason = `waits for ${pending.candidate} to accept`;
  const winner = pending.candidate;
  return conclude(situation, { outcome: "elected", trigger: "timer", reason, winner, lookAgainMs: leftMs });
}

/** A holder that no coordinator elected is left alone, and so is its lease's record: nothing is written (85). */
function leaveHolder(circumstances: Circumstances): ElectionDecision {
  const { holds } = circumstances.record;
  const reason = `${holds[0]?.holder ?? ""} holds the lease without an election and is left alone`;
  const lookAgainMs = untilOverMs(circumstances);
  return conclude(circumstances, { outcome: "foreignHolder", trigger: "timer", reason, lookAgainMs });
}

/** Ms until the running terms are over unless they are renewed. If the owner has not ended them then, look again soon. */
function untilOverMs({ now, record, view }: Circumstances): number {
  const waits = record.holds.map((hold) => remainingMs(hold.renewal, hold.leaseDurationMs, now));
  return Math.max(...waits, view.timing.actionLookMs);
}

function nobody(circumstances: Circumstances): ElectionDecision {
  const reason = circumstances.holder === "" ? "the lease has no candidate" : `${circumstances.holder} stays`;
  const cleared = clearOwnMark(circumstances, "no candidate is left to follow");
  return cleared ?? conclude(circumstances, { outcome: "nobody", trigger: "timer", reason });
}

/** The strategy leaves the choice to others. A vendor's is written down for them, with the lease if need be (68). */
function leaveToOthers(situation: Situation): ElectionDecision {
  const { record, strategy } = situation;
  const cleared = clearOwnMark(situation, `the strategy is now ${shown(strategy)}`);
  if (cleared !== undefined) return cleared;
  const reason = `the strategy ${shown(strategy)} leaves the choice to others`;
  const isShown = strategy.kind === "noCoordination" && record.created === undefined;
  if (isShown || !isStrategyStale(record, strategy)) {
    return conclude(situation, { outcome: "leftToOthers", trigger: "timer", reason });
  }
  const expectedRevision = expectedRevisionOf(record);
  const setting = { strategy, source: "consensus" } as const;
  const action = { kind: "putStrategy", strategy: setting, conflict: undefined, expectedRevision } as const;
  return conclude(situation, { outcome: "leftToOthers", trigger: "timer", action, reason });
}
