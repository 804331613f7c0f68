import { Fault } from "@tenure/kernel";
import { isTenureError, lossExitCode } from "@tenure/sdk";

/** What every command may end with. Scripts rely on the numbers: they do not change. */
export const exitCodes = {
  /** Done. */
  ok: 0,
  /** Something failed; the message says what. */
  error: 1,
  /** The command line, or a value on it, is wrong. */
  usage: 2,
  /** What was asked for does not exist; for `leader`, nobody leads. */
  notFound: 3,
  /** The present state forbids it: another change came first, or the thing is held. */
  conflict: 4,
  /** Not acquired in the time that was given. */
  notAcquired: 11,
  /** The authority to act was lost or became uncertain, and the program was ended. */
  authorityLost: lossExitCode,
} as const;

/** What the table of exit codes says, in the order of the numbers. */
export const exitCodeTexts: readonly (readonly [code: number, meaning: string])[] = [
  [exitCodes.ok, "done"],
  [exitCodes.error, "something failed; the message says what"],
  [exitCodes.usage, "the command line, or a value on it, is wrong"],
  [exitCodes.notFound, "what was asked for does not exist; for `leader`, nobody leads"],
  [exitCodes.conflict, "the present state forbids it: another change came first, or it is held"],
  [exitCodes.notAcquired, "not acquired in the time that was given"],
  [exitCodes.authorityLost, "the authority to act was lost or became uncertain; the program was ended"],
];

/** A failure with the exit code that belongs to it. Its message is shown as it is, and never a stack. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A mistake on the command line. */
export function usageFailure(message: string): CommandFailure {
  return new CommandFailure(exitCodes.usage, message);
}

const conflicts: ReadonlySet<string> = new Set(["ABORTED", "ALREADY_EXISTS", "FAILED_PRECONDITION"]);

/** The exit code of whatever was thrown. */
export function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof CommandFailure) return thrown.exitCode;
  return isTenureError(thrown) || thrown instanceof Fault ? codeOfClass(thrown.code) : exitCodes.error;
}

function codeOfClass(code: string): number {
  if (code === "INVALID_ARGUMENT") return exitCodes.usage;
  if (code === "NOT_FOUND") return exitCodes.notFound;
  return conflicts.has(code) ? exitCodes.conflict : exitCodes.error;
}

/** The one line that says what went wrong, with what a person can do where that is known. */
export function failureText(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (!isTenureError(thrown)) return message;
  if (thrown.reason === "UNREACHABLE") return `${message}; is the service running, and is this its endpoint?`;
  return thrown.applied === "UNKNOWN" ? `${message}; whether the change happened is not known` : message;
}
