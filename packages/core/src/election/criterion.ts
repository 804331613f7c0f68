import { priorityOf } from "../coordination.ts";
import type { CandidatePreference, CandidateRecord } from "../record/candidate.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { Strategy } from "../record/strategy.ts";
import { compareVersions, parseVersion, type SemanticVersion } from "../semantic-version.ts";
import type { RankingResult } from "./expression.ts";

/** What candidates are compared by, in this order. */
export const criteria = [
  "preference",
  "zone",
  "priority",
  "expression",
  "compatibilityVersion",
  "binaryVersion",
  "registration",
  "name",
] as const;

/** One thing that candidates are compared by. */
export type Criterion = (typeof criteria)[number];

/** What a candidate is compared by, read from its record once. */
export interface Merits {
  readonly name: string;
  readonly preference: CandidatePreference;
  readonly zone: string;
  /** The zone's place in the lease's order; behind all that are listed if it is not. */
  readonly zonePlace: number;
  /** 0 if none counts. */
  readonly priority: number;
  /** Undefined for strategies without an expression. */
  readonly result: RankingResult | undefined;
  readonly compatibilityVersion: SemanticVersion | undefined;
  readonly binaryVersion: SemanticVersion | undefined;
  readonly versions: { readonly compatibility: string; readonly binary: string };
  readonly registration: bigint;
}

/** Reads what a candidate is compared by. One that does not say its compatibility version has that of its binary. */
export function meritsOf(
  { spec: { zonePreference } }: LeaseRecord,
  candidate: CandidateRecord,
  result: RankingResult | undefined,
  now: number,
): Merits {
  const { name, registered, spec } = candidate;
  const place = zonePreference.indexOf(spec.zone);
  const versions = { compatibility: spec.compatibilityVersion || spec.binaryVersion, binary: spec.binaryVersion };
  return {
    name,
    preference: spec.preference,
    zone: spec.zone,
    zonePlace: place === -1 ? zonePreference.length : place,
    priority: priorityOf(candidate, now) ?? 0,
    result,
    compatibilityVersion: parseVersion(versions.compatibility),
    binaryVersion: parseVersion(versions.binary),
    versions,
    registration: registered.sequence,
  };
}

const willingness: Readonly<Record<CandidatePreference, number>> = {
  preferred: 0,
  neutral: 1,
  lastResort: 2,
  never: 3,
};

/** Negative when `left` is before `right` by one criterion. */
function compareBy(criterion: Criterion, left: Merits, right: Merits, strategy: Strategy): number {
  switch (criterion) {
    case "preference":
      return willingness[left.preference] - willingness[right.preference];
    case "zone":
      return left.zonePlace - right.zonePlace;
    case "priority":
      return right.priority - left.priority;
    case "expression":
      return compareResults(left.result, right.result);
    case "compatibilityVersion":
      return direction(strategy) * compareParsed(left.compatibilityVersion, right.compatibilityVersion);
    case "binaryVersion":
      return direction(strategy) * compareParsed(left.binaryVersion, right.binaryVersion);
    case "registration":
      return left.registration < right.registration ? -1 : left.registration > right.registration ? 1 : 0;
    case "name":
      return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
  }
}

function direction({ kind }: Strategy): 1 | -1 {
  return kind === "newestCompatibilityVersion" ? -1 : 1;
}

/** The higher result is before the lower, and an error is behind every result. */
function compareResults(left: RankingResult | undefined, right: RankingResult | undefined): number {
  if (left?.kind === "value" && right?.kind === "value") {
    return left.value > right.value ? -1 : left.value < right.value ? 1 : 0;
  }
  return (left?.kind === "error" ? 1 : 0) - (right?.kind === "error" ? 1 : 0);
}

function compareParsed(left: SemanticVersion | undefined, right: SemanticVersion | undefined): number {
  return left === undefined || right === undefined ? 0 : compareVersions(left, right);
}

/** The first criterion that tells two candidates apart, and who is before whom; undefined only for one and the same. */
export function firstDifference(
  left: Merits,
  right: Merits,
  strategy: Strategy,
): { readonly criterion: Criterion; readonly order: number } | undefined {
  for (const criterion of criteria) {
    const order = compareBy(criterion, left, right, strategy);
    if (order !== 0) return { criterion, order };
  }
  return undefined;
}

/**
 * Whether `left` is so much better that a running term of `right` may be ended for it. Who registered first and whose
 * name is lower only break ties: they decide whom to elect, and never end a term, which would help nobody.
 */
export function isAhead(left: Merits, right: Merits, strategy: Strategy): boolean {
  const difference = firstDifference(left, right, strategy);
  if (difference === undefined || difference.order > 0) return false;
  return difference.criterion !== "registration" && difference.criterion !== "name";
}

/** A candidate's value by one criterion, for people; undefined where it says nothing. */
export function shownValue(criterion: Criterion, merits: Merits): string | undefined {
  switch (criterion) {
    case "preference":
      return merits.preference;
    case "zone":
      return merits.zone === "" ? undefined : merits.zone;
    case "priority":
      return merits.priority === 0 ? undefined : String(merits.priority);
    case "expression":
      return merits.result?.kind === "value" ? String(merits.result.value) : merits.result && "error";
    case "compatibilityVersion":
      return merits.versions.compatibility;
    case "binaryVersion":
      return merits.versions.binary;
    case "registration":
      return String(merits.registration);
    case "name":
      return merits.name;
  }
}
