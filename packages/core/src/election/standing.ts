import type { CandidateRecord } from "../record/candidate.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { Strategy } from "../record/strategy.ts";
import { answerOf, type CandidateAnswer } from "./answer.ts";
import { firstDifference, type Merits, meritsOf } from "./criterion.ts";
import { type Exclusion, exclusionOf } from "./exclusion.ts";
import { type RankingCompilation, type RankingResult, rankingInput } from "./expression.ts";
import type { ElectionView } from "./view.ts";

/** A candidate as an election sees it. */
export interface Standing {
  readonly candidate: CandidateRecord;
  readonly merits: Merits;
  readonly answer: CandidateAnswer;
  /** Undefined when it can be chosen, now or once it has answered. */
  readonly exclusion: Exclusion | undefined;
  readonly isHolder: boolean;
}

/** All candidates of a lease in their order. */
export interface Ranking {
  /** Those that can be chosen, the best first. */
  readonly chosen: readonly Standing[];
  /** Those that cannot, by name. */
  readonly excluded: readonly Standing[];
}

/**
 * Ranks the candidates of a lease while `holder` leads. The order is total and does not depend on how they are listed
 * or on who has answered.
 */
export function rankCandidates(view: ElectionView, strategy: Strategy, holder: string, now: number): Ranking {
  const { assumptions, record } = view;
  const results = rankingResults(view, strategy, holder, now);
  const standingOf = (candidate: CandidateRecord, isRemoved: boolean): Standing => {
    const isHolder = candidate.name === holder && !isRemoved;
    const answer = answerOf(candidate, view, now);
    const merits = meritsOf(record, candidate, results(candidate), now);
    // Whoever leads renews its term, which shows better than any ping that it is alive.
    const isSilent = answer === "silent" && !isHolder;
    const why = isRemoved ? "hypothesis" : exclusionOf(record, candidate, now);
    return { candidate, merits, answer, exclusion: why ?? (isSilent ? "silent" : undefined), isHolder };
  };
  const standings = [
    ...[...(record.candidates?.values() ?? [])].map((candidate) => standingOf(candidate, false)),
    ...(assumptions?.removed ?? []).map((candidate) => standingOf(candidate, true)),
  ];
  const byMerit = (left: Standing, right: Standing) => firstDifference(left.merits, right.merits, strategy)?.order ?? 0;
  const byName = (left: Standing, right: Standing) => (left.candidate.name < right.candidate.name ? -1 : 1);
  return {
    chosen: standings.filter(({ exclusion }) => exclusion === undefined).sort(byMerit),
    excluded: standings.filter(({ exclusion }) => exclusion !== undefined).sort(byName),
  };
}

/** What the strategy's expression says of each candidate; nothing for strategies without one. */
function rankingResults(
  { expressions, record }: ElectionView,
  { expression, kind }: Strategy,
  holder: string,
  now: number,
): (candidate: CandidateRecord) => RankingResult | undefined {
  if (kind !== "expression") return () => undefined;
  const compilation = expressions.compile(expression);
  const leader = record.candidates?.get(holder);
  return (candidate) => resultOf(compilation, record, candidate, leader, now);
}

function resultOf(
  compilation: RankingCompilation,
  record: LeaseRecord,
  candidate: CandidateRecord,
  holder: CandidateRecord | undefined,
  now: number,
): RankingResult {
  if (compilation.kind === "refused") return { kind: "error", message: compilation.problems.join("; ") };
  const result = compilation.ranking.rank(rankingInput(record, candidate, holder, now));
  if (result.kind === "error" || Number.isFinite(result.value)) return result;
  return { kind: "error", message: `the result is ${result.value}, and must be a finite number` };
}
