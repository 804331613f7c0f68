import { priorityOf } from "../coordination.ts";
import { nameOf, namespaceOf } from "../key.ts";
import type { CandidateRecord } from "../record/candidate.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { Labels } from "../record/lease-spec.ts";

/** A candidate as a ranking expression sees it. Field names are those of the API. */
export interface RankingCandidate {
  readonly name: string;
  readonly binary_version: string;
  readonly compatibility_version: string;
  readonly labels: Labels;
  readonly zone: string;
  readonly preference: string;
  /** 0 if it has none that counts. */
  readonly priority: number;
  readonly component: string;
}

/**
 * What a ranking expression sees. There is nothing in it that changes by itself, such as a time or a counter of
 * changes of holder: a ranking that moves on its own would move the leader with it.
 */
export interface RankingInput {
  readonly candidate: RankingCandidate;
  readonly lease: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: Labels;
    readonly zone_preference: readonly string[];
  };
  /** Whoever holds the lease now, as a candidate; all empty while nobody does. */
  readonly holder: RankingCandidate;
}

/** What an expression says of one candidate: a finite number, the higher the better, or why there is none. */
export type RankingResult =
  | { readonly kind: "value"; readonly value: number }
  | { readonly kind: "error"; readonly message: string };

/** An expression that was compiled and type-checked. */
export interface CompiledRanking {
  /** Total: never throws, and costs no more than the bound that it was compiled under. */
  rank(input: RankingInput): RankingResult;
}

/** What becomes of an expression's text. */
export type RankingCompilation =
  | { readonly kind: "compiled"; readonly ranking: CompiledRanking }
  | { readonly kind: "refused"; readonly problems: readonly string[] };

/**
 * Whoever can compile ranking expressions. Deterministic: the same text is always compiled or refused alike, and a
 * compiled ranking gives the same result for the same input, so that every coordinator decides the same.
 */
export interface RankingExpressions {
  compile(text: string): RankingCompilation;
}

/** The candidate that nobody is. */
const nobody: RankingCandidate = Object.freeze({
  name: "",
  binary_version: "",
  compatibility_version: "",
  labels: Object.freeze({}),
  zone: "",
  preference: "",
  priority: 0,
  component: "",
});

/** The input of an expression for one candidate while `holder` leads. */
export function rankingInput(
  record: LeaseRecord,
  candidate: CandidateRecord,
  holder: CandidateRecord | undefined,
  now: number,
): RankingInput {
  const { labels, zonePreference } = record.spec;
  return {
    candidate: asSeen(candidate, now),
    lease: {
      namespace: namespaceOf(record.key),
      name: nameOf(record.key),
      labels,
      zone_preference: zonePreference,
    },
    holder: holder === undefined ? nobody : asSeen(holder, now),
  };
}

function asSeen(candidate: CandidateRecord, now: number): RankingCandidate {
  const { name, spec } = candidate;
  return {
    name,
    binary_version: spec.binaryVersion,
    compatibility_version: spec.compatibilityVersion || spec.binaryVersion,
    labels: spec.labels,
    zone: spec.zone,
    preference: spec.preference,
    priority: priorityOf(candidate, now) ?? 0,
    component: spec.participant?.component ?? "",
  };
}
