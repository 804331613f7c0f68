import { whyNotElectable } from "../coordination.ts";
import { checkEligible } from "../decide/eligible.ts";
import type { CandidateRecord } from "../record/candidate.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { remainingMs } from "../record/position.ts";
import { parseVersion } from "../semantic-version.ts";

/** Why a candidate cannot be chosen. */
export type Exclusion =
  | "silent"
  | "expired"
  | "cordoned"
  | "never"
  | "unhealthy"
  | "coolDown"
  | "missedAccept"
  | "versionUnparsable"
  | "notEligible"
  | "hypothesis";

/** Why a candidate cannot be chosen whether or not it is alive; undefined when it can. */
export function exclusionOf(record: LeaseRecord, candidate: CandidateRecord, now: number): Exclusion | undefined {
  const why = whyNotElectable(candidate, now);
  // A grant sets the count of missed accepts to 0, so a cool-down beside one comes from the miss and not from a loss.
  if (why === "coolDown") return candidate.missedAccepts > 0 ? "missedAccept" : "coolDown";
  if (why !== undefined) return why;
  const { binaryVersion, compatibilityVersion, participant } = candidate.spec;
  const isParsable = parseVersion(binaryVersion) !== undefined && parseVersion(compatibilityVersion || binaryVersion);
  if (!isParsable) return "versionUnparsable";
  if (hasMissedThis(record, candidate, now)) return "missedAccept";
  return checkEligible(record, participant) === undefined ? undefined : "notEligible";
}

/** The choice of this candidate has lapsed on this clock, though the owner has not said so yet. */
function hasMissedThis({ pending }: LeaseRecord, { name }: CandidateRecord, now: number): boolean {
  return pending?.candidate === name && remainingMs(pending.from, pending.acceptWindowMs, now) === 0;
}

/**
 * Ms until something about a candidate changes by the passing of time: its validity, priority, cordon or cool-down
 * runs out. Infinite when nothing does.
 */
export function untilChangeMs({ coolDown, cordon, priority, renewal, spec }: CandidateRecord, now: number): number {
  const waits = [
    // At exactly its validity it still counts.
    remainingMs(renewal, spec.validityMs + 1, now),
    coolDown === undefined ? 0 : remainingMs(coolDown.from, coolDown.coolDownMs, now),
    cordon?.expiresAfterMs === undefined ? 0 : remainingMs(cordon.set, cordon.expiresAfterMs, now),
    priority?.expiresAfterMs === undefined ? 0 : remainingMs(priority.set, priority.expiresAfterMs, now),
  ];
  return Math.min(...waits.filter((ms) => ms > 0), Number.POSITIVE_INFINITY);
}
