import {
  byteLength,
  type Timing as CoreTiming,
  checkCandidateName,
  checkDurationMs,
  checkLeaseKey,
  leaseKey,
  maximumNameBytes,
  parseVersion,
} from "@tenure/core";
import type { Participant } from "../../gen/tenure/v1/hold.ts";
import { type Reading, shown } from "../reading.ts";

/** Room for any digest that is in use, and none for anything else. */
const mostDigestBytes = 64;

/** Rejects a text that is longer than a holder's name may be. */
export function checkHolderText(reading: Reading, field: string, text: string): void {
  // No character has more than three bytes for each of its places, so most texts need not be measured.
  if (text.length * 3 <= maximumNameBytes) return;
  const size = byteLength(text);
  if (size > maximumNameBytes) reading.reject(field, `must be at most ${maximumNameBytes} bytes`, `${size} bytes`);
}

/** Rejects what cannot name an identity record, whose id is the name of a lease; empty names none. */
export function checkIdentityName(reading: Reading, field: string, identity: string): void {
  if (identity === "" || checkLeaseKey(leaseKey("identities", identity)).length === 0) return;
  reading.reject(field, `must be a DNS-1123 subdomain of at most ${maximumNameBytes} bytes`, shown(identity));
}

/** Rejects a component that is no name, a release that is no version, and a digest that is too long. */
export function checkParticipant(reading: Reading, field: string, participant: Participant): void {
  const { component, configurationDigest, version } = participant;
  if (component !== "") reading.rejectAll(checkCandidateName(component, `${field}.component`));
  if (version !== "" && (version.length > maximumNameBytes || parseVersion(version) === undefined)) {
    reading.reject(`${field}.version`, "must be a semantic version x.y.z without a leading v", shown(version));
  }
  if (configurationDigest.length > mostDigestBytes) {
    const rule = `must be at most ${mostDigestBytes} bytes`;
    reading.reject(`${field}.configuration_digest`, rule, `${configurationDigest.length} bytes`);
  }
}

/** Rejects durations that are none; whether they fit together is core's to judge. */
export function checkDurations(reading: Reading, field: string, timing: CoreTiming): void {
  const check = (name: string, durationMs: number) =>
    reading.rejectAll(checkDurationMs(`${field}.${name}`, durationMs, 1, Number.MAX_SAFE_INTEGER));
  check("lease_duration", timing.leaseDurationMs);
  check("usable_term", timing.usableTermMs);
  check("renew_interval", timing.renewIntervalMs);
  check("request_timeout", timing.requestTimeoutMs);
}
