import { constants } from "node:os";
import { exitCodes } from "../exit-code.ts";
import type { Terminal } from "../output/terminal.ts";
import type { JobResult } from "./run-under-term.ts";

/** What decides about the exit code besides how the program ended. */
export interface OutcomeOptions {
  readonly passExitCode: boolean;
  /** The signal by which the user asked for the end. */
  readonly requested: NodeJS.Signals | undefined;
}

/**
 * The exit code of a run, or the signal that this process should die by, so that shells and service managers see an end
 * on request as one. Says why where the code alone does not.
 */
export function outcomeOf(
  { end, termEnd }: JobResult,
  { passExitCode, requested }: OutcomeOptions,
  note: Terminal["note"],
): NodeJS.Signals | number {
  if (end.kind === "not-started") {
    note(`the program was not started: ${end.why}`);
    return exitCodes.error;
  }
  if (end.kind === "too-late") {
    note("the term was over before the program could be started");
    return exitCodes.authorityLost;
  }
  if (end.kind === "unwatched") {
    note("the watchdog process ended, so the program was killed");
    return exitCodes.authorityLost;
  }
  const ownCode = end.code ?? 128 + constants.signals[end.signal ?? "SIGKILL"];
  if (requested !== undefined) {
    if (ownCode === 0) return exitCodes.ok;
    return passExitCode ? ownCode : requested;
  }
  if (termEnd !== undefined && termEnd.kind !== "stopped") return exitCodes.authorityLost;
  if (ownCode === 0 || passExitCode) return ownCode;
  note(`the program ended with ${end.signal ?? `code ${end.code}`}`);
  return exitCodes.error;
}
