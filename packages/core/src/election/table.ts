import { formatDuration } from "@tenure/kernel";
import type { CandidateRecord } from "../record/candidate.ts";
import { remainingMs } from "../record/position.ts";
import type { Strategy } from "../record/strategy.ts";
import { type Criterion, criteria, firstDifference, type Merits, shownValue } from "./criterion.ts";
import type { RankedCandidate } from "./decision.ts";
import type { Exclusion } from "./exclusion.ts";
import type { Ranking, Standing } from "./standing.ts";

/** How people read a criterion. */
const wordOf: Readonly<Record<Criterion, string>> = {
  preference: "preference",
  zone: "zone",
  priority: "priority",
  expression: "the expression",
  compatibilityVersion: "compatibility version",
  binaryVersion: "binary version",
  registration: "age of registration",
  name: "name",
};

/** The ranked table: those that can be chosen, the best first, then the others, each with why it has its place. */
export function rankedRows(ranking: Ranking, strategy: Strategy, now: number): readonly RankedCandidate[] {
  const { chosen, excluded } = ranking;
  const rows = chosen.map((standing, place) => {
    const above = chosen[place - 1];
    const below = chosen[place + 1];
    const { decidedBy, reason } = placeOf(standing, above, below, strategy);
    return { ...rowOf(standing), rank: place + 1, decidedBy, reason };
  });
  const others = excluded.map((standing) => ({ ...rowOf(standing), reason: whyExcluded(standing, now) }));
  return [...rows, ...others];
}

function rowOf({ answer, candidate, exclusion, isHolder, merits }: Standing): RankedCandidate {
  const values = criteria.flatMap((criterion) => {
    const value = shownValue(criterion, merits);
    return value === undefined ? [] : [{ criterion, value }];
  });
  const expressionError = merits.result?.kind === "error" ? merits.result.message : "";
  return { rank: 0, candidate, answer, exclusion, values, decidedBy: undefined, isHolder, reason: "", expressionError };
}

function placeOf(
  { merits }: Standing,
  above: Standing | undefined,
  below: Standing | undefined,
  strategy: Strategy,
): Pick<RankedCandidate, "decidedBy" | "reason"> {
  if (above !== undefined) {
    const decidedBy = firstDifference(above.merits, merits, strategy)?.criterion;
    return { decidedBy, reason: `after ${comparison(merits, above.merits, decidedBy)}` };
  }
  if (below === undefined) return { decidedBy: undefined, reason: "no other candidate can be chosen" };
  const criterion = firstDifference(merits, below.merits, strategy)?.criterion;
  return { decidedBy: undefined, reason: `before ${comparison(merits, below.merits, criterion)}` };
}

/** How one candidate compares with another, such as `b by compatibility version (1.19.0, b has 1.20.0)`. */
export function comparison(merits: Merits, other: Merits, criterion: Criterion | undefined): string {
  if (criterion === undefined) return other.name;
  if (criterion === "name" || criterion === "registration") return `${other.name} by ${wordOf[criterion]}`;
  const own = shownValue(criterion, merits) ?? "none";
  const others = shownValue(criterion, other) ?? "none";
  return `${other.name} by ${wordOf[criterion]} (${own}, ${other.name} has ${others})`;
}

function whyExcluded({ candidate, exclusion }: Standing, now: number): string {
  return exclusion === undefined ? "" : exclusionSentence[exclusion](candidate, now);
}

const exclusionSentence: Readonly<Record<Exclusion, (candidate: CandidateRecord, now: number) => string>> = {
  silent: ({ ping }) =>
    ping === undefined || ping.answeredNumber >= ping.number
      ? "let its term run out and has shown no life since"
      : `did not answer ping ${ping.number}`,
  expired: ({ spec }) => `did not renew for ${formatDuration(spec.validityMs)}`,
  cordoned: ({ cordon }) => `is cordoned by ${cordon?.author ?? ""}: ${cordon?.reason ?? ""}`,
  never: () => "says that it never wants to lead",
  unhealthy: ({ spec }) => `says that it is unhealthy${spec.healthNote === "" ? "" : `: ${spec.healthNote}`}`,
  coolDown: (candidate, now) => `lost a term and sits out another ${coolDownLeft(candidate, now)}`,
  missedAccept: (candidate, now) =>
    `did not accept (${candidate.missedAccepts} in a row) and sits out another ${coolDownLeft(candidate, now)}`,
  versionUnparsable: ({ spec }) =>
    `has a version that does not parse (${spec.binaryVersion}, ${spec.compatibilityVersion})`,
  notEligible: ({ spec }) => `may not hold this migration lock as component ${spec.participant?.component ?? "none"}`,
  hypothesis: () => "is taken to be gone",
};

function coolDownLeft({ coolDown }: CandidateRecord, now: number): string {
  return formatDuration(coolDown === undefined ? 0 : Math.ceil(remainingMs(coolDown.from, coolDown.coolDownMs, now)));
}
