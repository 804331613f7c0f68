import { Fault, type FieldViolation } from "@tenure/kernel";

/** How many broken rules are told; a request with more has a programmer's mistake in it, and answers are bounded. */
const mostViolations = 64;

/**
 * Collects every broken rule of a message that is being read, so that a caller learns all of them at once. The reader
 * goes on with a stand-in for what it could not read; what it made counts only if nothing was rejected.
 */
export class Reading {
  #violations: FieldViolation[] | undefined;

  /** Every broken rule so far. */
  get violations(): readonly FieldViolation[] {
    return this.#violations ?? [];
  }

  /** Whether something was rejected. */
  get isBroken(): boolean {
    return this.#violations !== undefined;
  }

  /** Notes a broken rule. `field` is spelled as the API does; `value` must not show a secret. */
  reject(field: string, rule: string, value: string): void {
    this.#violations ??= [];
    if (this.#violations.length < mostViolations) this.#violations.push({ field, rule, value });
  }

  /** Notes the broken rules that another check found, except of fields that were rejected already. */
  rejectAll(violations: readonly FieldViolation[]): void {
    if (violations.length === 0) return;
    const known = new Set(this.violations.map(({ field }) => field));
    for (const { field, rule, value } of violations) if (!known.has(field)) this.reject(field, rule, value);
  }

  /** The refusal of a request that was read; undefined if nothing was rejected. Nothing was applied. */
  refusal(): Fault | undefined {
    const violations = this.#violations;
    if (violations === undefined) return undefined;
    const message = violations.map(({ field, rule, value }) => `${field} ${rule} (got ${value})`).join("; ");
    const details = { violations, applied: "NO" } as const;
    return new Fault({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", message, details });
  }
}

/** A text as a refusal shows it: quoted, and cut short. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
