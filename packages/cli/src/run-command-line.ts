import type { Tenure } from "@tenure/sdk";
import type { Command } from "./command/command.ts";
import { helpText } from "./command/help.ts";
import { type Parsed, parseCommandLine } from "./command/parse.ts";
import { openConnection } from "./context/connection.ts";
import { resolveSettings, type Settings } from "./context/settings.ts";
import { exitCodeOf, exitCodes, failureText } from "./exit-code.ts";
import type { Format } from "./output/format.ts";
import type { Terminal } from "./output/terminal.ts";
import { version } from "./version.ts";

/** What a run of the command line lives in. */
export interface Surroundings {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  /** Asks the command to stop, as a signal to the process does. */
  readonly signal?: AbortSignal;
}

/** The signals by which a user asks a command to stop; those that run a program have more to tell apart. */
const stopSignals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** Runs one command line and gives its exit code, or the signal that the process should die by. Whatever fails is one line on standard error, never a stack. */
export async function runCommandLine(
  commands: readonly Command[],
  surroundings: Surroundings,
): Promise<NodeJS.Signals | number> {
  const { argv, terminal } = surroundings;
  if (argv[0] === "--version" || argv[0] === "version") {
    terminal.print(version);
    return exitCodes.ok;
  }
  try {
    const parsed = parseCommandLine(commands, argv);
    if (!("help" in parsed)) return await runCommand(parsed, surroundings);
    terminal.write(helpText(commands, parsed.help));
    return exitCodes.ok;
  } catch (thrown) {
    terminal.note(`tenure: ${failureText(thrown)}`);
    return exitCodeOf(thrown);
  }
}

async function runCommand(parsed: Parsed, surroundings: Surroundings): Promise<NodeJS.Signals | number> {
  const { command, positionals, rest, values } = parsed;
  const format = (values.text("output") ?? "table") as Format;
  const { environment, terminal } = surroundings;
  let settled: Settings | undefined;
  const settings = (): Settings => {
    settled ??= resolveSettings(values, environment);
    return settled;
  };
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(exitCodes.error);
    stop.abort(signal);
  };
  if (command.ownsSignals !== true) for (const signal of stopSignals) process.on(signal, onSignal);
  surroundings.signal?.addEventListener("abort", () => stop.abort(), { once: true });
  let connected: Promise<Tenure> | undefined;
  try {
    return await command.run({
      values,
      positionals,
      rest,
      terminal,
      format,
      // Only when it is asked for: what mends a configuration must run with a broken one.
      get settings() {
        return settings();
      },
      environment,
      signal: stop.signal,
      connect: (connection) => {
        connected ??= openConnection(settings(), { signal: stop.signal, ...connection }).catch((error: unknown) => {
          connected = undefined;
          throw error;
        });
        return connected;
      },
    });
  } finally {
    for (const signal of stopSignals) process.off(signal, onSignal);
    await connected?.then(
      (tenure) => tenure.close(),
      () => undefined,
    );
  }
}
