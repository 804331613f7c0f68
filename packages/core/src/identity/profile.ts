import type { FieldViolation } from "@tenure/kernel";
import { checkCandidateName, checkLeaseKey, type LeaseKey } from "../key.ts";
import type { Labels } from "../record/lease-spec.ts";
import { parseVersion } from "../semantic-version.ts";
import { checkDurationMs, checkLabels, checkText } from "../validation/field.ts";
import type { IdentityOrigin } from "./naming.ts";

/** What goes when an instance goes. */
export type Dependent =
  | { readonly kind: "lease"; readonly lease: LeaseKey }
  | { readonly kind: "candidate"; readonly lease: LeaseKey; readonly candidate: string };

/** What an instance says about itself. */
export interface IdentityProfile extends IdentityOrigin {
  /** A semantic version; empty is unknown. */
  readonly version: string;
  readonly zone: string;
  readonly labels: Labels;
  readonly capabilities: readonly string[];
  readonly addresses: readonly string[];
  readonly dependents: readonly Dependent[];
  /** Time between two beats. */
  readonly beatIntervalMs: number;
  /** How long the record counts without a beat. */
  readonly validityMs: number;
}

/** What the server accepts. */
export interface IdentityLimits {
  readonly leastBeatIntervalMs: number;
  readonly mostBeatIntervalMs: number;
  readonly mostValidityMs: number;
}

/** Beats that must fit into the validity: three may be missed before anyone calls it silent, and as many after. */
export const beatsPerValidity = 6;

const componentPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelKeyPattern = /^[a-zA-Z0-9][-._/a-zA-Z0-9]*$/;
const most = { capabilities: 64, addresses: 16, dependents: 256 };

/** Every broken rule of a profile, all at once; empty when it is legal. */
export function checkProfile(profile: IdentityProfile, limits: IdentityLimits): readonly FieldViolation[] {
  const { version } = profile;
  const isVersion = version === "" || parseVersion(version) !== undefined;
  return [
    ...checkComponent(profile.component),
    ...(isVersion ? [] : [violation("version", "must be a semantic version x.y.z without a leading v", version)]),
    ...checkText("profile.host", profile.host, 253),
    ...checkText("profile.zone", profile.zone, 253),
    ...checkLabels("profile.labels", profile.labels),
    ...checkLabelKeys(profile.labels),
    ...checkList("capabilities", profile.capabilities, most.capabilities, 64),
    ...checkList("addresses", profile.addresses, most.addresses, 256),
    ...checkDependents(profile.dependents),
    ...checkBeats(profile, limits),
  ];
}

function checkComponent(component: string): readonly FieldViolation[] {
  if (component.length <= 253 && componentPattern.test(component)) return [];
  return [violation("component", "must be a DNS-1123 subdomain of 1 to 253 bytes", component)];
}

function checkLabelKeys(labels: Labels): readonly FieldViolation[] {
  const rule = "must have keys that begin with a letter or digit and go on with [-._/a-zA-Z0-9]";
  return Object.keys(labels)
    .filter((key) => key !== "" && !labelKeyPattern.test(key))
    .map((key) => violation("labels", rule, key));
}

function checkList(
  field: string,
  texts: readonly string[],
  mostTexts: number,
  mostBytes: number,
): readonly FieldViolation[] {
  if (texts.length > mostTexts) return [violation(field, `must have at most ${mostTexts} entries`, `${texts.length}`)];
  return texts.flatMap((text, place) => checkText(`profile.${field}[${place}]`, text, mostBytes));
}

function checkDependents(dependents: readonly Dependent[]): readonly FieldViolation[] {
  if (dependents.length > most.dependents) {
    return [violation("dependents", `must have at most ${most.dependents} entries`, `${dependents.length}`)];
  }
  return dependents.flatMap((dependent, place) => {
    const field = `profile.dependents[${place}]`;
    const ofLease = checkLeaseKey(dependent.lease, field);
    return dependent.kind === "lease" ? ofLease : [...ofLease, ...checkCandidateName(dependent.candidate, field)];
  });
}

function checkBeats({ beatIntervalMs, validityMs }: IdentityProfile, limits: IdentityLimits): FieldViolation[] {
  const { leastBeatIntervalMs, mostBeatIntervalMs, mostValidityMs } = limits;
  const beat = checkDurationMs("profile.beat_interval", beatIntervalMs, leastBeatIntervalMs, mostBeatIntervalMs);
  if (beat.length > 0) return beat;
  return checkDurationMs("profile.validity", validityMs, beatsPerValidity * beatIntervalMs, mostValidityMs);
}

function violation(field: string, rule: string, value: string): FieldViolation {
  return { field: `profile.${field}`, rule, value: JSON.stringify(value.slice(0, 80)) };
}
