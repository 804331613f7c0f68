import { writeSync } from "node:fs";

/** Ends the process with a code, after saying why. */
export type EndProcess = (code: number, why: string) => void;

/** The exit code of a process that lost its leadership. No shell, signal or Node.js itself uses it. */
export const lossExitCode = 20;

/** Writes one line to standard error, past every buffer, and ends the process at once. */
export const endThisProcess: EndProcess = (code, why) => {
  try {
    writeSync(2, `tenure: ${why}; the process ends with code ${code}\n`);
  } catch {
    // Nobody reads standard error any more: the code has to say it all.
  }
  process.exit(code);
};
