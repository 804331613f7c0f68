import type { Refusal } from "../partition/reply.ts";
import type { Participant } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { parseVersion } from "../semantic-version.ts";
import { isInRange, parseVersionRange } from "../version-range.ts";

/**
 * Why a claimant may not hold a migration lock (rule 24); undefined when it may, or when the lease is none. Decided
 * where grants are, so no stale view of a configuration can start a controller twice.
 */
export function checkEligible(record: LeaseRecord, participant: Participant | undefined): Refusal | undefined {
  const { eligibility, key: lease } = record;
  if (eligibility === undefined) return undefined;
  const { component = "", version = "", configurationDigest = "" } = participant ?? {};
  const refusal: Refusal = { kind: "notEligible", lease, component, version };
  if (component === "") return refusal;
  if (configurationDigest !== eligibility.configurationDigest) {
    return { kind: "configurationDisagrees", lease, configuration: eligibility.configuration };
  }
  const isListed = eligibility.components.some(
    ({ name, versionRange }) => (name === "*" || name === component) && isWithin(version, versionRange),
  );
  return isListed ? undefined : refusal;
}

/** Whether a version is in a range, as text; one that is no strict semantic version is only in the range of all. */
export function isWithin(version: string, versionRange: string): boolean {
  const range = parseVersionRange(versionRange);
  if (range === undefined) return false;
  if (range.length === 0) return true;
  const parsed = parseVersion(version);
  return parsed !== undefined && isInRange(parsed, range);
}
