import type { FieldViolation } from "@tenure/kernel";
import type { Labels } from "../record/lease-spec.ts";

/** Most labels of one record. */
export const maximumLabels = 32;
/** Most bytes of a label's key and value together. */
export const maximumLabelBytes = 128;

const encoder = new TextEncoder();

/** The size of a text as it is stored. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** A duration in whole ms within bounds; a fraction is refused rather than rounded (statement 25). */
export function checkDurationMs(field: string, valueMs: number, leastMs: number, mostMs: number): FieldViolation[] {
  if (Number.isSafeInteger(valueMs) && valueMs >= leastMs && valueMs <= mostMs) return [];
  const rule = leastMs === 1 ? "must be greater than 0" : `must be ${leastMs} ms to ${mostMs} ms`;
  return [{ field, rule: `${rule}, in whole milliseconds`, value: `${valueMs} ms` }];
}

/** A text that must be one of a closed set. */
export function checkChoice(field: string, value: string, choices: readonly string[]): FieldViolation[] {
  if (choices.includes(value)) return [];
  return [{ field, rule: `must be one of ${choices.join(", ")}`, value: JSON.stringify(value.slice(0, 80)) }];
}

/** A text of bounded size. */
export function checkText(field: string, value: string, mostBytes: number): FieldViolation[] {
  if (byteLength(value) <= mostBytes) return [];
  return [{ field, rule: `must be at most ${mostBytes} bytes`, value: `${byteLength(value)} bytes` }];
}

/** Labels of bounded number and size, none with an empty key. */
export function checkLabels(field: string, labels: Labels): FieldViolation[] {
  const entries = Object.entries(labels);
  const violations: FieldViolation[] = [];
  if (entries.length > maximumLabels) {
    violations.push({ field, rule: `must have at most ${maximumLabels} entries`, value: String(entries.length) });
  }
  for (const [key, value] of entries) {
    const size = byteLength(key) + byteLength(value);
    if (key !== "" && size <= maximumLabelBytes) continue;
    const rule = `must have keys that are not empty, and at most ${maximumLabelBytes} bytes for key and value`;
    violations.push({ field, rule, value: JSON.stringify(key.slice(0, 80)) });
  }
  return violations;
}
