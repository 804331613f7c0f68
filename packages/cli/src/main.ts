import { constants } from "node:os";
import { systemClock } from "@tenure/kernel";
import { commands } from "./commands.ts";
import { exitCodes } from "./exit-code.ts";
import { processTerminal } from "./output/terminal.ts";
import { runCommandLine } from "./run-command-line.ts";

// Whoever reads our output may stop early, as `head` does: then there is nobody to print for.
process.stdout.on("error", () => process.exit(exitCodes.ok));
process.stderr.on("error", () => undefined);

/** A signal to oneself has ended the process long before. */
const selfSignalMs = 500;

const outcome = await runCommandLine(commands, {
  argv: process.argv.slice(2),
  environment: process.env,
  terminal: processTerminal(process.env),
});
// What was printed is flushed before the end. Handles that are still open belong to nothing that is waited for.
process.stdout.write("", () => {
  if (typeof outcome === "number") process.exit(outcome);
  process.kill(process.pid, outcome);
  // Process 1 does not die by its own signal.
  systemClock.schedule(selfSignalMs, () => process.exit(128 + constants.signals[outcome]));
});
