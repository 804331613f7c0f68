import type { CandidateSpec } from "./record/candidate.ts";
import { type ConsensusRule, type Strategy, type StrategyConflict, strategyKinds } from "./record/strategy.ts";
import { compareVersions, parseVersion, type SemanticVersion } from "./semantic-version.ts";

/** A candidate as far as consensus looks at it. */
export interface Voter {
  readonly name: string;
  readonly spec: Pick<CandidateSpec, "binaryVersion" | "strategy">;
}

/** What the candidates' wishes come to. */
export type Consensus =
  | { readonly kind: "none" }
  | { readonly kind: "agreed"; readonly strategy: Strategy }
  | { readonly kind: "conflict"; readonly conflict: StrategyConflict };

/**
 * The strategy that candidates agree on, in whatever order they are listed. By precedence the latest kind that anyone
 * asks for wins; by highest binary version those of that version decide. Different wishes among the deciding ones are
 * a conflict: nobody is elected by guess.
 */
export function reconcile(voters: readonly Voter[], rule: ConsensusRule): Consensus {
  const deciding = rule === "precedence" ? latestKind(voters) : highestVersion(voters);
  const sides = new Map<string, { strategy: Strategy; candidates: string[] }>();
  for (const { name, spec } of deciding) {
    const wish = `${spec.strategy.kind}\n${spec.strategy.vendor}\n${spec.strategy.expression}`;
    const side = sides.get(wish);
    if (side === undefined) sides.set(wish, { strategy: spec.strategy, candidates: [name] });
    else side.candidates.push(name);
  }
  const [first] = sides.values();
  if (first === undefined) return { kind: "none" };
  if (sides.size === 1) return { kind: "agreed", strategy: first.strategy };
  const ordered = [...sides.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, side]) => side);
  for (const side of ordered) side.candidates.sort();
  return { kind: "conflict", conflict: { sides: ordered } };
}

function latestKind(voters: readonly Voter[]): readonly Voter[] {
  const latest = Math.max(...voters.map(({ spec }) => strategyKinds.indexOf(spec.strategy.kind)));
  return voters.filter(({ spec }) => strategyKinds.indexOf(spec.strategy.kind) === latest);
}

function highestVersion(voters: readonly Voter[]): readonly Voter[] {
  let highest: SemanticVersion | undefined;
  const versions = voters.map(({ spec }) => parseVersion(spec.binaryVersion));
  for (const version of versions) {
    if (version !== undefined && (highest === undefined || compareVersions(version, highest) > 0)) highest = version;
  }
  const top = highest;
  if (top === undefined) return [];
  return voters.filter((_, place) => {
    const version = versions[place];
    return version !== undefined && compareVersions(version, top) === 0;
  });
}
