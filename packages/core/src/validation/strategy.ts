import type { FieldViolation } from "@tenure/kernel";
import { type Strategy, strategyKinds } from "../record/strategy.ts";
import { byteLength, checkChoice } from "./field.ts";

const vendorPattern =
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[a-zA-Z0-9]([-._a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/;
/** Most bytes of a ranking expression. */
export const maximumExpressionBytes = 2_048;

/** Every broken rule of a strategy. An expression is compiled by whoever ranks with it, not here. */
export function checkStrategy(strategy: Strategy, field = "strategy"): readonly FieldViolation[] {
  const { kind, expression, vendor } = strategy;
  const violations: FieldViolation[] = [...checkChoice(`${field}.kind`, kind, strategyKinds)];
  const size = byteLength(expression);
  if ((kind === "expression") !== size > 0 || size > maximumExpressionBytes) {
    const rule = `must be 1 to ${maximumExpressionBytes} bytes for the expression strategy, and empty for others`;
    violations.push({ field: `${field}.expression`, rule, value: `${size} bytes` });
  }
  if (kind === "vendor" ? !isVendorName(vendor) : vendor !== "") {
    const rule = "must be domain/name for a vendor's strategy, and empty for others";
    violations.push({ field: `${field}.vendor`, rule, value: JSON.stringify(vendor.slice(0, 80)) });
  }
  return violations;
}

/** Whether a text names a vendor's strategy: a DNS-1123 subdomain, one slash, 1 to 63 bytes of name. */
export function isVendorName(text: string): boolean {
  return text.length <= 253 + 1 + 63 && vendorPattern.test(text);
}

/** The strategy that a plain name says: a built-in name, or `domain/name` of a vendor; undefined if it is neither. */
export function strategyNamed(name: string): Strategy | undefined {
  if (isVendorName(name)) return { kind: "vendor", expression: "", vendor: name };
  const wanted = name.toLowerCase();
  const alias = wanted === "oldestemulationversion" ? "oldestcompatibilityversion" : wanted;
  const kind = strategyKinds.find((known) => known.toLowerCase() === alias);
  if (kind === undefined || kind === "vendor" || kind === "expression") return undefined;
  return { kind, expression: "", vendor: "" };
}
