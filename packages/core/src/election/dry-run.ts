import type { ElectionDecision } from "./decision.ts";
import { electionDecision } from "./election-decision.ts";
import { type Hypothesis, imagine } from "./hypothesis.ts";
import type { ElectionView } from "./view.ts";

/** What would be decided as things are and as they would be. */
export interface DryRun {
  readonly before: ElectionDecision;
  readonly after: ElectionDecision;
  /** Whether another would lead. */
  readonly leaderChanges: boolean;
}

/**
 * The ranked table of a lease as it is, and what a coordinator would do now. Changes nothing. Unlike a dry run it
 * shows what is not known: a candidate that was not asked is not taken to be there.
 */
export function explainElection(view: ElectionView, now: number): ElectionDecision {
  return { ...electionDecision(view, now), trigger: "question" };
}

/**
 * What would be decided if the hypotheses were true. Changes nothing and asks nobody: who was not asked is taken to
 * answer, who is known to be silent is not, and hypotheses say otherwise.
 */
export function dryRunElection(view: ElectionView, hypotheses: readonly Hypothesis[], now: number): DryRun {
  const before = electionDecision(imagine(view, [], now), now);
  const after = electionDecision(imagine(view, hypotheses, now), now);
  return { before, after, leaderChanges: before.expectedLeader !== after.expectedLeader };
}
