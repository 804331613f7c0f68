import type { Labels } from "@tenure/core";
import { LabelOperator, type LabelRequirement, type LabelSelector } from "../../gen/tenure/v1/selector.ts";
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

function requirementTest(reading: Reading, field: string, { key, operator, values }: LabelRequirement): LabelTest {
  if (key === "") reading.reject(`${field}.key`, "must not be empty", shown(key));
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
