import type { FieldViolation } from "@tenure/kernel";
import type { CandidateSpec, Priority } from "../record/candidate.ts";
import { compareVersions, parseVersion } from "../semantic-version.ts";
import { checkChoice, checkDurationMs, checkLabels, checkText } from "./field.ts";
import { checkStrategy } from "./strategy.ts";

const leastValidityMs = 10_000;
const mostValidityMs = 86_400_000;
const preferences = ["preferred", "neutral", "lastResort", "never"];
const versionStrategies: ReadonlySet<string> = new Set(["oldestCompatibilityVersion", "newestCompatibilityVersion"]);

/** Every broken rule of what a candidate says about itself, all at once. */
export function checkCandidateSpec(spec: CandidateSpec, field = "spec"): readonly FieldViolation[] {
  return [
    ...checkVersions(spec, field),
    ...checkStrategy(spec.strategy, `${field}.strategy`),
    ...checkLabels(`${field}.labels`, spec.labels),
    ...checkText(`${field}.zone`, spec.zone, 253),
    ...checkChoice(`${field}.preference`, spec.preference, preferences),
    ...checkText(`${field}.health_note`, spec.healthNote, 256),
    ...checkDurationMs(`${field}.validity`, spec.validityMs, leastValidityMs, mostValidityMs),
    ...checkText(`${field}.identity`, spec.identity, 253),
  ];
}

function checkVersions({ binaryVersion, compatibilityVersion, strategy }: CandidateSpec, field: string) {
  const violations = [...checkVersion(`${field}.binary_version`, binaryVersion, true)];
  const isNeeded = versionStrategies.has(strategy.kind);
  violations.push(...checkVersion(`${field}.compatibility_version`, compatibilityVersion, isNeeded));
  const binary = parseVersion(binaryVersion);
  const compatibility = parseVersion(compatibilityVersion);
  if (binary !== undefined && compatibility !== undefined && compareVersions(binary, compatibility) < 0) {
    const rule = `must be at least the compatibility version ${compatibilityVersion}`;
    violations.push({ field: `${field}.binary_version`, rule, value: binaryVersion });
  }
  return violations;
}

function checkVersion(field: string, version: string, isRequired: boolean): FieldViolation[] {
  if (version === "" ? !isRequired : parseVersion(version) !== undefined) return [];
  const rule = version === "" ? "is required" : "must be a semantic version x.y.z without a leading v";
  return [{ field, rule, value: JSON.stringify(version.slice(0, 80)) }];
}

/** Every broken rule of a priority (statement 104). */
export function checkPriority(priority: Pick<Priority, "value" | "expiresAfterMs">): readonly FieldViolation[] {
  const { value, expiresAfterMs } = priority;
  const isLegal = Number.isSafeInteger(value) && value > 0 && value < 2 ** 31;
  return [
    ...(isLegal ? [] : [{ field: "priority.value", rule: "must be a whole number above 0", value: String(value) }]),
    ...(expiresAfterMs === undefined
      ? []
      : checkDurationMs("priority.expires_after", expiresAfterMs, 1, Number.MAX_SAFE_INTEGER)),
  ];
}
