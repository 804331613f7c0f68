/** A rule that a document breaks, or advice about it. */
export interface Finding {
  /** Line from 1; 0 concerns the whole document. */
  readonly line: number;
  /** Column from 1; 0 is unknown. */
  readonly column: number;
  /** Path of the field, for example `controllerLeaders[2].component`; empty concerns the whole document. */
  readonly field: string;
  /** The rule in plain words. */
  readonly rule: string;
  /** What was written, shortened for display. */
  readonly value: string;
  /** Advice only; the document can be used. */
  readonly isWarning: boolean;
}

/** A finding as one line for people: `line 4: controllerLeaders[0].name: must not be empty (is "")`. */
export function findingText({ field, line, rule, value }: Finding): string {
  const parts = [line === 0 ? "" : `line ${line}`, field, rule].filter((part) => part !== "");
  return `${parts.join(": ")}${value === "" ? "" : ` (is ${value})`}`;
}

/** In the order of the document. */
export function sortFindings(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort((left, right) => left.line - right.line || left.column - right.column);
}
