import type { FieldViolation } from "@tenure/kernel";
import type { LeaseSpec } from "../record/lease-spec.ts";
import { byteLength, checkChoice, checkDurationMs, checkLabels, checkText } from "./field.ts";

const dayMs = 86_400_000;
/** Most bytes of all annotations together. */
export const maximumAnnotationBytes = 4_096;
const maximumZones = 16;
const maximumCapacity = 1_000_000;

/** Every broken rule of what a client sets on a lease; empty when it is legal. */
export function checkLeaseSpec(spec: LeaseSpec, field = "spec"): readonly FieldViolation[] {
  const { fallbackDelayMs } = spec;
  return [
    ...checkDurationMs(`${field}.lease_duration`, spec.leaseDurationMs, 1, dayMs),
    ...checkDurationMs(`${field}.lock_delay`, spec.lockDelayMs, 0, dayMs),
    ...checkChoice(`${field}.mode`, spec.mode, ["exclusive", "shared", "counted"]),
    ...checkCapacity(spec, `${field}.capacity`),
    ...checkDurationMs(`${field}.drain_bound`, spec.drainBoundMs, 0, dayMs),
    ...checkDurationMs(`${field}.minimum_term`, spec.minimumTermMs, 0, dayMs),
    ...checkDurationMs(`${field}.cool_down`, spec.coolDownMs, 0, dayMs),
    ...(fallbackDelayMs === undefined ? [] : checkDurationMs(`${field}.fallback_delay`, fallbackDelayMs, 0, dayMs)),
    ...checkChoice(`${field}.consensus_rule`, spec.consensusRule, ["precedence", "highestBinaryVersion"]),
    ...checkZones(spec, `${field}.zone_preference`),
    ...checkLabels(`${field}.labels`, spec.labels),
    ...checkAnnotations(spec, `${field}.annotations`),
  ];
}

function checkCapacity({ mode, capacity }: LeaseSpec, field: string): FieldViolation[] {
  const most = mode === "counted" ? maximumCapacity : 1;
  if (Number.isSafeInteger(capacity) && capacity >= 1 && capacity <= most) return [];
  const rule = mode === "counted" ? `must be 1 to ${most}` : "must not be set unless the mode is counted";
  return [{ field, rule, value: String(capacity) }];
}

function checkZones({ zonePreference }: LeaseSpec, field: string): FieldViolation[] {
  if (zonePreference.length > maximumZones) {
    return [{ field, rule: `must have at most ${maximumZones} zones`, value: String(zonePreference.length) }];
  }
  return zonePreference.flatMap((zone) => checkText(field, zone, 253));
}

function checkAnnotations({ annotations }: LeaseSpec, field: string): FieldViolation[] {
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  if (size <= maximumAnnotationBytes) return [];
  return [{ field, rule: `must be at most ${maximumAnnotationBytes} bytes in all`, value: `${size} bytes` }];
}
