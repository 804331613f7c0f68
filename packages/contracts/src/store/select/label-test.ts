import { byteLength, type Labels, maximumLabelBytes } from "@tenure/core";
import { LabelOperator, type LabelRequirement, type LabelSelector } from "../../gen/tenure/v1/selector.ts";
import { checkLabelKeys } from "../command/label-keys.ts";
import { type Reading, shown } from "../reading.ts";

const mostRequirements = 16;
const mostValues = 16;

/** Whether labels pass. */
export type LabelTest = (labels: Labels) => boolean;

/** One test for all requirements of a selector; undefined if it has none. Requirements that make no sense are rejected. */
export function labelTest(reading: Reading, field: string, selector: LabelSelector | undefined): LabelTest | undefined {
  const requirements = selector?.requirements ?? [];
  if (requirements.length === 0) return undefined;
  if (requirements.length > mostRequirements) {
    reading.reject(`${field}.requirements`, `must have at most ${mostRequirements} tests`, String(requirements.length));
  }
  const tests = requirements.map((requirement, place) =>
    requirementTest(reading, `${field}.requirements[${place}]`, requirement),
  );
  return (labels) => tests.every((test) => test(labels));
}

/** Rejects a key that no label can have, and values that are longer than any label's. */
function checkSizes(reading: Reading, field: string, key: string, values: readonly string[]): void {
  checkLabelKeys(reading, `${field}.key`, { [key]: "" });
  const rule = `must be at most ${maximumLabelBytes} bytes`;
  if (byteLength(key) > maximumLabelBytes) reading.reject(`${field}.key`, rule, `${byteLength(key)} bytes`);
  for (const [place, value] of values.entries()) {
    const size = byteLength(value);
    if (size > maximumLabelBytes) reading.reject(`${field}.values[${place}]`, rule, `${size} bytes`);
  }
}

function requirementTest(reading: Reading, field: string, { key, operator, values }: LabelRequirement): LabelTest {
  if (key === "") reading.reject(`${field}.key`, "must not be empty", shown(key));
  else checkSizes(reading, field, key, values);
  const isPresence = operator === LabelOperator.EXISTS || operator === LabelOperator.ABSENT;
  const isCountRight = isPresence ? values.length === 0 : values.length >= 1 && values.length <= mostValues;
  if (!isCountRight) {
    const rule = isPresence ? "must be empty for EXISTS and ABSENT" : `must have 1 to ${mostValues} values`;
    reading.reject(`${field}.values`, rule, String(values.length));
  }
  const labelOf = (labels: Labels) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  switch (operator) {
    case LabelOperator.IN:
      return (labels) => labelOf(labels) !== undefined && values.includes(labelOf(labels) ?? "");
    case LabelOperator.NOT_IN:
      return (labels) => labelOf(labels) === undefined || !values.includes(labelOf(labels) ?? "");
    case LabelOperator.EXISTS:
      return (labels) => labelOf(labels) !== undefined;
    case LabelOperator.ABSENT:
      return (labels) => labelOf(labels) === undefined;
    default:
      reading.reject(`${field}.operator`, "must be IN, NOT_IN, EXISTS or ABSENT", String(operator));
      return () => false;
  }
}
