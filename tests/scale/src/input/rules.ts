import type { DescField } from "@bufbuild/protobuf";
import { fullNameOf } from "./schema.ts";

/** Texts for people and opaque texts of the caller's own: shown as they are, and never part of a subject. */
const freeTexts: ReadonlySet<string> = new Set([
  "tenure.v1.ChangeNote.reason",
  "tenure.v1.Claimant.holder",
  "tenure.v1.Claimant.holder_key",
  "tenure.v1.Wait.supersedes_key",
  "tenure.v1.WrittenHold.holder",
  "tenure.v1.WrittenHold.holder_key",
  "tenure.v1.WrittenHold.preferred_holder",
  "tenure.v1.CandidateSpec.health_note",
  "tenure.v1.Priority.reason",
  "tenure.v1.CandidateSpec.zone",
  "tenure.v1.LeaseSpec.zone_preference",
  "tenure.v1.LeaseSpec.annotations",
  "tenure.v1.LabelRequirement.values",
  // Compiled by those who rank with it.
  "tenure.v1.Strategy.expression",
]);

/** Fields of records that the server alone sets: what a caller writes into them is not looked at. */
const ignored: ReadonlySet<string> = new Set(["tenure.v1.Priority.author"]);

/** Whether any text may stand in a field. */
export function isFreeText(field: DescField): boolean {
  return freeTexts.has(fullNameOf(field));
}

/** Whether a field is the server's own. */
export function isIgnored(field: DescField): boolean {
  return ignored.has(fullNameOf(field));
}

/** Reasons that name what is wrong with one field, beside INVALID_FIELD with the field and its rule. */
const reasonsByField: readonly (readonly [RegExp, readonly string[]])[] = [
  [/(^|\.)token$/, ["FENCED", "NOT_HOLDER", "NOT_PENDING", "TERM_EXPIRED"]],
  [/(^|\.)renew_key$/, ["RENEW_KEY_MISMATCH"]],
  [/expected_uid$/, ["UID_CONFLICT"]],
  [/page\.token$/, ["TOKEN_INVALID"]],
  // A value that can be no stored one is not what the transaction expects.
  [/value_is$/, ["COMPARISON_FAILED"]],
  // Sizes that operators set: the refusal names the limit.
  [/(^|\.)value$/, ["LIMIT_EXCEEDED"]],
  // What is said of one entry of a list is answered to that entry: nobody holds a lease of that name.
  [/^(renewals|items)\[0\]/, ["NOT_HOLDER", "LEASE_NOT_FOUND", "LEFT_ALONE"]],
  [/^answers\[0\]/, ["LEFT_ALONE"]],
];

/** The reasons, other than INVALID_FIELD, that a flaw of a field may be refused with. */
export function otherReasons(field: string): readonly string[] {
  return reasonsByField.filter(([pattern]) => pattern.test(field)).flatMap(([, reasons]) => reasons);
}
