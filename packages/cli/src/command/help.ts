import { exitCodeTexts } from "../exit-code.ts";
import type { Command, Flag } from "./command.ts";
import { globalFlags } from "./global-flags.ts";

/** The one flag that stands alone, without a command. */
export const versionFlag = "--version";
/** What it does. */
export const versionMeaning = "print the version, alone: tenure --version";

/** The first line of help: how a command is typed. */
export function usageLine(command: Command): string {
  const words = (command.positionals ?? []).map(({ name, optional = false }) => (optional ? `[${name}]` : name));
  const program = command.takesProgram === true ? ["--", "PROGRAM", "[ARGUMENT...]"] : [];
  return ["tenure", ...command.path, ...words, ...(command.flags?.length ? ["[flags]"] : []), ...program].join(" ");
}

/** A flag as it is typed. */
export function flagText({ name, short, value }: Flag): string {
  const typed = short === undefined ? `--${name}` : `-${short}, --${name}`;
  return value === undefined ? typed : `${typed} ${value}`;
}

/** The help of one command, or of all that begin with these words. */
export function helpText(commands: readonly Command[], path: readonly string[]): string {
  const exact = commands.find((command) => command.path.join(" ") === path.join(" "));
  if (exact !== undefined) return commandHelp(exact);
  const matching = commands.filter((command) => path.every((word, index) => command.path[index] === word));
  return matching.length === 0 || path.length === 0 ? overview(commands) : listing(matching);
}

function commandHelp(command: Command): string {
  const { details, examples, flags = [], summary } = command;
  return [
    `${summary}.`,
    ...(details === undefined ? [] : ["", details]),
    "",
    `usage: ${usageLine(command)}`,
    ...(flags.length === 0 ? [] : ["", "flags:", ...table(flags.map((flag) => [flagText(flag), flag.summary]))]),
    "",
    "flags of every command:",
    ...table(globalFlags.map((flag) => [flagText(flag), flag.summary])),
    "",
    "examples:",
    ...table(examples),
    "",
  ].join("\n");
}

function overview(commands: readonly Command[]): string {
  return [
    "Tenure: who leads, why, and how to change it safely.",
    "",
    "usage: tenure COMMAND [flags]",
    "",
    listing(commands).trimEnd(),
    "",
    "exit codes:",
    ...table(exitCodeTexts.map(([code, meaning]) => [String(code), meaning.replaceAll("`", "")])),
    "",
    "flags:",
    ...table([...globalFlags.map((flag) => [flagText(flag), flag.summary] as const), [versionFlag, versionMeaning]]),
    "",
    "tenure COMMAND --help says more, with examples.",
    "",
  ].join("\n");
}

function listing(commands: readonly Command[]): string {
  return ["commands:", ...table(commands.map(({ path, summary }) => [path.join(" "), summary])), ""].join("\n");
}

function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`.trimEnd());
}
