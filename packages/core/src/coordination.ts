import { type Consensus, reconcile } from "./consensus.ts";
import type { CandidateRecord } from "./record/candidate.ts";
import type { LeaseRecord } from "./record/lease.ts";
import { elapsedMs } from "./record/position.ts";

/** Whether a candidate's record still counts; at exactly its validity it does. */
export function isCandidateValid(candidate: CandidateRecord, now: number): boolean {
  return elapsedMs(candidate.renewal, now) <= candidate.spec.validityMs;
}

/** Why a candidate may not be elected now; undefined when it may. */
export function whyNotElectable(
  candidate: CandidateRecord,
  now: number,
): "expired" | "cordoned" | "coolDown" | "never" | "unhealthy" | undefined {
  const { cordon, coolDown, spec } = candidate;
  if (!isCandidateValid(candidate, now)) return "expired";
  if (cordon !== undefined && lasts(cordon.set, cordon.expiresAfterMs, now)) return "cordoned";
  if (coolDown !== undefined && elapsedMs(coolDown.from, now) < coolDown.coolDownMs) return "coolDown";
  if (spec.preference === "never") return "never";
  return spec.isHealthy ? undefined : "unhealthy";
}

function lasts(set: CandidateRecord["renewal"], expiresAfterMs: number | undefined, now: number): boolean {
  return expiresAfterMs === undefined || elapsedMs(set, now) < expiresAfterMs;
}

/** A candidate's priority if it has one that has not run out (statement 108); undefined otherwise. */
export function priorityOf({ priority }: CandidateRecord, now: number): number | undefined {
  return priority !== undefined && lasts(priority.set, priority.expiresAfterMs, now) ? priority.value : undefined;
}

/** The strategy in force: an operator's, or else what the valid candidates agree on (rule 21). */
export function strategyInForce(record: LeaseRecord, now: number): Consensus {
  if (record.strategy?.source === "operator") return { kind: "agreed", strategy: record.strategy.strategy };
  const valid = [...(record.candidates?.values() ?? [])].filter((candidate) => isCandidateValid(candidate, now));
  return reconcile(valid, record.spec.consensusRule);
}

/**
 * Whether plain claims must wait for an election: the lease has valid candidates and its strategy coordinates. A
 * conflict of strategies counts as coordinated, because nobody may win by having asked differently.
 */
export function isCoordinated(record: LeaseRecord, now: number): boolean {
  if (record.candidates === undefined) return false;
  let hasValid = false;
  for (const candidate of record.candidates.values()) hasValid ||= isCandidateValid(candidate, now);
  if (!hasValid) return false;
  const strategy = strategyInForce(record, now);
  return strategy.kind !== "agreed" || strategy.strategy.kind !== "noCoordination";
}
