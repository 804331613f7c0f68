import type { Finding } from "@tenure/migration-rules";
import { expect, it } from "vitest";
import { documentInvalid } from "./document-check.ts";

const finding = (field: string, isWarning = false): Finding => ({
  line: 3,
  column: 1,
  field,
  rule: "must not",
  value: "x",
  isWarning,
});

it.each([
  ["a set that changed while its lock is held", ["controllerLeaders"], true, "IMMUTABLE"],
  ["that and something else", ["controllerLeaders", "leaderName"], true, "DOCUMENT_INVALID"],
  ["a document that cannot be read", ["controllerLeaders"], false, "DOCUMENT_INVALID"],
] as const)("the refusal of %s has every error with its line, and no advice", (_title, fields, isReadable, reason) => {
  const fault = documentInvalid([...fields.map((field) => finding(field)), finding("advice", true)], isReadable);
  expect(fault.reason).toBe(reason);
  expect(fault.details.violations).toEqual(fields.map((field) => ({ field, rule: "line 3: must not", value: "x" })));
});
