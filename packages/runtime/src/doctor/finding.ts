/** Whether a deployment must be safe (`production`) or may be convenient (`development`). */
export type Mode = "production" | "development";

/**
 * How bad a finding is: `fatal` stops a service in every mode, `unsafe` stops it in production and warns in
 * development, `advice` never stops anything.
 */
export type Severity = "fatal" | "unsafe" | "advice";

/** One thing that is wrong with a deployment. */
export interface Finding {
  /** Stable kebab-case name of the check, for programs. */
  readonly id: string;
  readonly severity: Severity;
  /** The server or stream that it is about. */
  readonly subject: string;
  /** What is wrong, with the value that was found. */
  readonly what: string;
  /** Why it matters. */
  readonly why: string;
  /** What to set or do. */
  readonly fix: string;
}

/** Whether a finding keeps a service from running in a mode. */
export function stops(finding: Finding, mode: Mode): boolean {
  return finding.severity === "fatal" || (finding.severity === "unsafe" && mode === "production");
}

/** A finding's id as the upper-case word that programs see. */
export function findingWord({ id }: Pick<Finding, "id">): string {
  return id.toUpperCase().replaceAll("-", "_");
}

/** A finding on one line. */
export function findingText({ subject, what, why, fix }: Finding): string {
  return `${subject}: ${what}; ${why}; ${fix}`;
}
