import { Fault, redactLogins } from "@tenure/kernel";

/** The reason of every configuration fault; a program that meets it exits with {@link usageExitCode}. */
export const configInvalid = "CONFIG_INVALID";

/** Exit code of a program whose command line, environment or file is wrong. */
export const usageExitCode = 2;

/** One thing that is wrong with what was configured. */
export interface Problem {
  /** Where it was given, as the user spelled it: `--stop-timeout`, `TENURE_STOP_TIMEOUT`, `tenure.yaml:3: stop-timeout`. */
  readonly where: string;
  /** The rule that it breaks, completing the sentence that `where` begins. */
  readonly rule: string;
  /** What was given, quoted and shortened; absent where the name itself is wrong, or the value is secret. */
  readonly value?: string;
}

/** The problem as one line. */
export function describeProblem({ where, rule, value }: Problem): string {
  return value === undefined ? `${where} ${rule}` : `${where} ${rule} (got ${value})`;
}

/** One fault that carries every problem of a load. Its message has a line for each. */
export function configFault(problems: readonly Problem[]): Fault {
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: configInvalid,
    message: problems.map(describeProblem).join("\n"),
    details: {
      violations: problems.map(({ where, rule, value }) => ({ field: where, rule, value: value ?? "" })),
    },
  });
}

/** The longest value that an error repeats. */
const shownLength = 80;

/** A value as an error shows it: quoted, on one line, shortened, without the password of a URL. */
export function quote(value: unknown): string {
  const text = redactLogins(JSON.stringify(value) ?? String(value));
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
}
