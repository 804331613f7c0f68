import type { Tenure } from "@tenure/sdk";
import type { Connection } from "../context/connection.ts";
import type { Settings } from "../context/settings.ts";
import type { Format } from "../output/format.ts";
import type { Terminal } from "../output/terminal.ts";
import type { Values } from "./values.ts";

/** One flag of a command. */
export interface Flag {
  /** Without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** What the value is called in help; a flag without one is a switch. */
  readonly value?: string;
  /** May be given several times. */
  readonly multiple?: boolean;
  /** The only values that are taken; completion offers them. */
  readonly choices?: readonly string[];
  /** Begins in lower case, ends without a full stop. */
  readonly summary: string;
}

/** A word that a command takes. */
export interface Positional {
  /** In capitals, as help shows it. */
  readonly name: string;
  readonly optional?: boolean;
}

/** What a command is run with. */
export interface Invocation {
  readonly values: Values;
  readonly positionals: readonly string[];
  /** What follows `--`; undefined when there is no `--`. */
  readonly rest: readonly string[] | undefined;
  readonly terminal: Terminal;
  readonly format: Format;
  readonly settings: Settings;
  /** The environment of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Connects; the process hangs up by itself at the end of the command. */
  connect(connection?: Connection): Promise<Tenure>;
  /** Aborted when the user asks the process to stop. */
  readonly signal: AbortSignal;
}

/** One command. Help, completion and the documentation are made of these. */
export interface Command {
  /** The words that name it, such as `["leases", "list"]`. */
  readonly path: readonly string[];
  /** Begins in upper case, ends without a full stop. */
  readonly summary: string;
  /** More than the summary, where that is not enough. */
  readonly details?: string;
  readonly positionals?: readonly Positional[];
  /** Takes a program after `--`. */
  readonly takesProgram?: boolean;
  readonly flags?: readonly Flag[];
  /** Command lines, each with what it does. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** Has signals of its own: the general handling of Ctrl-C is left out. */
  readonly ownsSignals?: boolean;
  /** Runs it and gives the exit code, or the signal that the process should die by. */
  run(invocation: Invocation): Promise<NodeJS.Signals | number>;
}
