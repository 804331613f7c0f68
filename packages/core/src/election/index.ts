export { answerOf, type CandidateAnswer, hasAnswered } from "./answer.ts";
export { type Ballot, electionCommand } from "./command.ts";
export { type Criterion, criteria } from "./criterion.ts";
export type {
  ElectionAction,
  ElectionDecision,
  ElectionOutcome,
  ElectionTrigger,
  RankedCandidate,
} from "./decision.ts";
export { type DryRun, dryRunElection, explainElection } from "./dry-run.ts";
export { electionDecision } from "./election-decision.ts";
export type { Exclusion } from "./exclusion.ts";
export type {
  CompiledRanking,
  RankingCandidate,
  RankingCompilation,
  RankingExpressions,
  RankingInput,
  RankingResult,
} from "./expression.ts";
export { type KeyOrder, takesPrecedence } from "./holder-key.ts";
export { type Hypothesis, imagine } from "./hypothesis.ts";
export { type Assumptions, defaultElectionTiming, type ElectionTiming, type ElectionView } from "./view.ts";
