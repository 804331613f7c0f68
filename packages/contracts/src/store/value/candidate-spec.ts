import {
  type CandidateSpec as CoreCandidateSpec,
  type Cordon as CoreCordon,
  type Priority as CorePriority,
  defaultValidityMs,
} from "@tenure/core";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.ts";
import {
  CandidateHealth,
  type CandidateSpec,
  type Cordon,
  type Priority,
} from "../../gen/tenure/v1/candidate_record.ts";
import type { Reading } from "../reading.ts";
import { candidatePreferences, wordOf } from "./enums.ts";
import { labelsFromWire, labelsToWire } from "./labels.ts";
import { participantFromWire, participantToWire, timingFromWire, timingToWire } from "./participant.ts";
import { strategyFromWire, strategyToWire } from "./strategy.ts";
import { shareText } from "./text.ts";
import { durationFromWire, durationToWire, optionalDurationToWire } from "./time.ts";

/** What a candidate says about itself, on the wire. */
export function candidateSpecToWire(spec: CoreCandidateSpec): CandidateSpec {
  return {
    binaryVersion: spec.binaryVersion,
    compatibilityVersion: spec.compatibilityVersion,
    strategy: strategyToWire(spec.strategy),
    labels: labelsToWire(spec.labels),
    zone: spec.zone,
    preference: candidatePreferences.toWire[spec.preference],
    health: spec.isHealthy ? CandidateHealth.HEALTHY : CandidateHealth.UNHEALTHY,
    healthNote: spec.healthNote,
    validity: durationToWire(spec.validityMs),
    identity: spec.identity,
    participant: participantToWire(spec.participant),
    timing: timingToWire(spec.timing),
  };
}

/** What a candidate says about itself. An absent field takes the default; bounds are core's to judge. */
export function candidateSpecFromWire(reading: Reading, field: string, spec: CandidateSpec): CoreCandidateSpec {
  const { participant, timing } = spec;
  return {
    binaryVersion: shareText(spec.binaryVersion),
    compatibilityVersion: shareText(spec.compatibilityVersion),
    strategy: strategyFromWire(reading, `${field}.strategy`, spec.strategy),
    labels: labelsFromWire(spec.labels),
    zone: shareText(spec.zone),
    preference: wordOf(reading, `${field}.preference`, candidatePreferences, spec.preference, "neutral"),
    isHealthy: isHealthyFromWire(reading, `${field}.health`, spec.health),
    healthNote: spec.healthNote,
    validityMs: durationFromWire(reading, `${field}.validity`, spec.validity, defaultValidityMs),
    identity: spec.identity,
    ...(participant === undefined ? undefined : { participant: participantFromWire(participant) }),
    ...(timing === undefined ? undefined : { timing: timingFromWire(reading, `${field}.timing`, timing) }),
  };
}

function isHealthyFromWire(reading: Reading, field: string, health: CandidateHealth): boolean {
  if (health === CandidateHealth.UNHEALTHY) return false;
  const isKnown = health === CandidateHealth.HEALTHY || health === CandidateHealth.UNSPECIFIED;
  if (!isKnown) reading.reject(field, "must be a value that this version knows", String(health));
  return true;
}

/** The name of each field of a candidate's spec on the wire, and in core. */
export const candidateSpecFields: Readonly<Record<string, keyof CoreCandidateSpec>> = {
  binary_version: "binaryVersion",
  compatibility_version: "compatibilityVersion",
  strategy: "strategy",
  labels: "labels",
  zone: "zone",
  preference: "preference",
  health: "isHealthy",
  health_note: "healthNote",
  validity: "validityMs",
  identity: "identity",
  participant: "participant",
  timing: "timing",
};

/** A priority on the wire; in the log its time is absent. */
export function priorityToWire({ author, expiresAfterMs, reason, value }: CorePriority, setAt?: Timestamp): Priority {
  return { value, expiresAfter: optionalDurationToWire(expiresAfterMs), author, reason, setAt };
}

/** A priority from the wire. */
export function priorityFromWire(reading: Reading, field: string, priority: Priority): CorePriority {
  const { author, expiresAfter, reason, value } = priority;
  const expiresAfterMs = durationFromWire(reading, `${field}.expires_after`, expiresAfter, undefined);
  return { value, expiresAfterMs, author: shareText(author), reason };
}

/** A cordon on the wire; in the log its time is absent. */
export function cordonToWire({ author, expiresAfterMs, reason }: CoreCordon, setAt?: Timestamp): Cordon {
  return { author, reason, setAt, expiresAfter: optionalDurationToWire(expiresAfterMs) };
}

/** A cordon from the wire. */
export function cordonFromWire(reading: Reading, field: string, { author, expiresAfter, reason }: Cordon): CoreCordon {
  const expiresAfterMs = durationFromWire(reading, `${field}.expires_after`, expiresAfter, undefined);
  return { expiresAfterMs, author: shareText(author), reason };
}
