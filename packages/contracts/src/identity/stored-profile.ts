import { type LeaseSpec as CoreSpec, identityAnnotations } from "@tenure/core";
import { durationToMs } from "../duration.ts";
import { IdentityProfile } from "../gen/tenure/v1/identity_record.ts";

/** A stored profile with the durations that are asked for all the time. */
export interface StoredProfile {
  readonly profile: IdentityProfile;
  readonly beatIntervalMs: number;
  readonly text: string;
}

const decoded = new WeakMap<CoreSpec, StoredProfile>();

/** What is assumed of records that do not say how often they beat. */
const defaultBeatMs = 10_000;

/**
 * The profile of an identity's lease. One that someone else wrote without a profile, or with one that cannot be read,
 * shows its component alone: it is an identity by its label and is collected like any other (statement 97).
 */
export function storedProfile(spec: CoreSpec, component: string): StoredProfile {
  const known = decoded.get(spec);
  if (known !== undefined) return known;
  const text = spec.annotations[identityAnnotations.profile] ?? "";
  const profile = decodeProfile(text) ?? IdentityProfile.fromPartial({ component });
  const beatMs = profile.beatInterval === undefined ? 0 : durationToMs(profile.beatInterval);
  const stored = { profile, text, beatIntervalMs: beatMs > 0 ? beatMs : defaultBeatMs };
  decoded.set(spec, stored);
  return stored;
}

function decodeProfile(text: string): IdentityProfile | undefined {
  if (text === "") return undefined;
  try {
    return IdentityProfile.decode(Buffer.from(text, "base64"));
  } catch {
    return undefined;
  }
}
