import { type LeaseSpec as CoreLeaseSpec, defaultLeaseSpec } from "@tenure/core";
import { HoldMode } from "../../gen/tenure/v1/hold.ts";
import type { LeaseSpec } from "../../gen/tenure/v1/lease_record.ts";
import type { Reading } from "../reading.ts";
import { consensusRules, holdModes, wordOf } from "./enums.ts";
import { labelsFromWire, labelsToWire } from "./labels.ts";
import { shareText } from "./text.ts";
import { durationFromWire, durationToWire, optionalDurationToWire } from "./time.ts";

const noTexts: readonly string[] = Object.freeze([]);

/** What clients set on a lease, on the wire, with every field that has a default filled in. */
export function leaseSpecToWire(spec: CoreLeaseSpec): LeaseSpec {
  return {
    leaseDuration: durationToWire(spec.leaseDurationMs),
    lockDelay: durationToWire(spec.lockDelayMs),
    mode: holdModes.toWire[spec.mode],
    capacity: spec.capacity,
    drainBound: durationToWire(spec.drainBoundMs),
    minimumTerm: durationToWire(spec.minimumTermMs),
    coolDown: durationToWire(spec.coolDownMs),
    fallbackDelay: optionalDurationToWire(spec.fallbackDelayMs),
    consensusRule: consensusRules.toWire[spec.consensusRule],
    zonePreference: spec.zonePreference,
    labels: labelsToWire(spec.labels),
    annotations: labelsToWire(spec.annotations),
  };
}

/**
 * What clients set on a lease. An absent field takes the default; a spec that equals the defaults is the one object
 * that all such leases share. Bounds are core's to judge.
 */
export function leaseSpecFromWire(reading: Reading, field: string, spec: LeaseSpec | undefined): CoreLeaseSpec {
  if (spec === undefined || isUnset(spec)) return defaultLeaseSpec;
  const known = defaultLeaseSpec;
  const { zonePreference } = spec;
  const ms = (name: string, duration: LeaseSpec["lockDelay"], fallbackMs: number) =>
    durationFromWire(reading, `${field}.${name}`, duration, fallbackMs);
  return sharedIfDefault({
    leaseDurationMs: ms("lease_duration", spec.leaseDuration, known.leaseDurationMs),
    lockDelayMs: ms("lock_delay", spec.lockDelay, known.lockDelayMs),
    mode: wordOf(reading, `${field}.mode`, holdModes, spec.mode, known.mode),
    capacity: spec.capacity === 0 ? known.capacity : spec.capacity,
    drainBoundMs: ms("drain_bound", spec.drainBound, known.drainBoundMs),
    minimumTermMs: ms("minimum_term", spec.minimumTerm, known.minimumTermMs),
    coolDownMs: ms("cool_down", spec.coolDown, known.coolDownMs),
    fallbackDelayMs: durationFromWire(reading, `${field}.fallback_delay`, spec.fallbackDelay, undefined),
    consensusRule: wordOf(reading, `${field}.consensus_rule`, consensusRules, spec.consensusRule, known.consensusRule),
    zonePreference: zonePreference.length === 0 ? noTexts : zonePreference.map(shareText),
    labels: labelsFromWire(spec.labels),
    annotations: labelsFromWire(spec.annotations),
  });
}

/** Whether a client has left everything to the defaults, as most do. */
function isUnset(spec: LeaseSpec): boolean {
  const isWithoutDurations =
    spec.leaseDuration === undefined &&
    spec.lockDelay === undefined &&
    spec.drainBound === undefined &&
    spec.minimumTerm === undefined &&
    spec.coolDown === undefined &&
    spec.fallbackDelay === undefined;
  const isPlain = spec.mode <= HoldMode.EXCLUSIVE && spec.mode >= 0 && spec.capacity <= 1 && spec.consensusRule === 0;
  return (
    isWithoutDurations &&
    isPlain &&
    spec.zonePreference.length === 0 &&
    isEmpty(spec.labels) &&
    isEmpty(spec.annotations)
  );
}

function isEmpty(labels: object): boolean {
  for (const _ in labels) return false;
  return true;
}

function sharedIfDefault(spec: CoreLeaseSpec): CoreLeaseSpec {
  const known = defaultLeaseSpec;
  const isDefault =
    spec.leaseDurationMs === known.leaseDurationMs &&
    spec.lockDelayMs === known.lockDelayMs &&
    spec.mode === known.mode &&
    spec.capacity === known.capacity &&
    spec.drainBoundMs === known.drainBoundMs &&
    spec.minimumTermMs === known.minimumTermMs &&
    spec.coolDownMs === known.coolDownMs &&
    spec.fallbackDelayMs === known.fallbackDelayMs &&
    spec.consensusRule === known.consensusRule &&
    spec.zonePreference.length === 0 &&
    Object.keys(spec.labels).length === 0 &&
    Object.keys(spec.annotations).length === 0;
  return isDefault ? known : spec;
}

/** The name of each field of a lease's spec on the wire, and in core. */
export const leaseSpecFields: Readonly<Record<string, keyof CoreLeaseSpec>> = {
  lease_duration: "leaseDurationMs",
  lock_delay: "lockDelayMs",
  mode: "mode",
  capacity: "capacity",
  drain_bound: "drainBoundMs",
  minimum_term: "minimumTermMs",
  cool_down: "coolDownMs",
  fallback_delay: "fallbackDelayMs",
  consensus_rule: "consensusRule",
  zone_preference: "zonePreference",
  labels: "labels",
  annotations: "annotations",
};
