import { parseArgs } from "node:util";
import { usageFailure } from "../exit-code.ts";
import type { Command, Flag } from "./command.ts";
import { globalFlags } from "./global-flags.ts";
import { Values } from "./values.ts";

/** A command line that was understood. */
export interface Parsed {
  readonly command: Command;
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly rest: readonly string[] | undefined;
}

/** Whether the user asks for help, and for which command or group of commands. */
export interface HelpRequest {
  readonly help: readonly string[];
}

/** Reads a command line; every mistake is a usage failure that says what to type instead. */
export function parseCommandLine(commands: readonly Command[], argv: readonly string[]): HelpRequest | Parsed {
  const dashes = argv.indexOf("--");
  const own = dashes < 0 ? argv : argv.slice(0, dashes);
  const rest = dashes < 0 ? undefined : argv.slice(dashes + 1);
  const leading = leadingWords(own);
  const words = leading.map(({ word }) => word);
  const command = commandOf(commands, words);
  if (command === undefined) {
    const wantsHelp = words[0] === "help" || own.length === 0 || own.includes("--help") || own.includes("-h");
    const path = words[0] === "help" ? words.slice(1) : words;
    if (wantsHelp) return { help: path };
    throw unknownCommand(commands, words);
  }
  // A noun alone lists: its words are fewer than the command's.
  const named = command.path.every((word, index) => words[index] === word) ? command.path.length : 1;
  const places = new Set(leading.slice(0, named).map(({ place }) => place));
  const { positionals, values } = readFlags(
    command,
    own.filter((_, place) => !places.has(place)),
  );
  if (values.has("help")) return { help: command.path };
  checkPositionals(command, positionals, rest);
  return { command, values, positionals, rest };
}

/** The words before the first flag that is a command's own, with their places; flags of every command are passed over. */
function leadingWords(argv: readonly string[]): readonly { readonly word: string; readonly place: number }[] {
  const words: { word: string; place: number }[] = [];
  for (let place = 0; place < argv.length; place += 1) {
    const word = argv[place] ?? "";
    const flag = globalFlags.find(({ name, short }) => word === `--${name}` || word === `-${short}`);
    if (flag?.value !== undefined) place += 1;
    else if (!word.startsWith("-")) words.push({ word, place });
    else if (flag === undefined && !globalFlags.some(({ name }) => word.startsWith(`--${name}=`))) break;
  }
  return words;
}

/** The command with the longest name that the words begin with; a noun alone is its list. */
function commandOf(commands: readonly Command[], words: readonly string[]): Command | undefined {
  const [noun, verb] = words;
  if (noun === undefined) return undefined;
  const exact = commands
    .filter(({ path }) => path.every((word, index) => words[index] === word))
    .toSorted((left, right) => right.path.length - left.path.length)[0];
  if (exact !== undefined || verb !== undefined) return exact;
  return commands.find(({ path }) => path[0] === noun && path[1] === "list");
}

function readFlags(command: Command, argv: readonly string[]) {
  const flags = [...(command.flags ?? []), ...globalFlags];
  const options = Object.fromEntries(flags.map((flag) => [flag.name, optionOf(flag)]));
  try {
    const { positionals, values } = parseArgs({ args: [...argv], options, strict: true, allowPositionals: true });
    for (const flag of flags) checkChoice(flag, values[flag.name]);
    return { positionals, values: new Values(values) };
  } catch (error) {
    const message = error instanceof Error ? (error.message.split(". To specify")[0] ?? "") : String(error);
    throw usageFailure(`${lowerFirst(message)}; see tenure ${command.path.join(" ")} --help`);
  }
}

function optionOf({ multiple = false, short, value }: Flag) {
  const type = value === undefined ? ("boolean" as const) : ("string" as const);
  return { type, multiple, ...(short === undefined ? {} : { short }) };
}

function checkChoice({ choices, name }: Flag, value: unknown): void {
  if (choices === undefined || value === undefined || choices.includes(String(value))) return;
  throw usageFailure(`--${name} must be one of ${choices.join(", ")} (got ${JSON.stringify(value)})`);
}

function checkPositionals(command: Command, given: readonly string[], rest: readonly string[] | undefined): void {
  const positionals = command.positionals ?? [];
  const missing = positionals.find(({ optional = false }, index) => !optional && given[index] === undefined);
  const line = `tenure ${command.path.join(" ")}`;
  if (missing !== undefined) throw usageFailure(`${missing.name} is missing; see ${line} --help`);
  const extra = given[positionals.length];
  if (extra !== undefined) {
    const hint = command.takesProgram === true ? "; a program goes after --" : "";
    throw usageFailure(`${JSON.stringify(extra)} is one word too many${hint}; see ${line} --help`);
  }
  if (command.takesProgram !== true && rest !== undefined) throw usageFailure(`${line} takes nothing after --`);
  if (command.takesProgram === true && (rest?.[0] ?? "") === "") {
    throw usageFailure(`the program is missing: ${line} ... -- program arguments`);
  }
}

function unknownCommand(commands: readonly Command[], words: readonly string[]): Error {
  const [noun = "", verb] = words;
  const verbs = commands.filter(({ path }) => path[0] === noun).map(({ path }) => path[1]);
  if (noun === "") return usageFailure("a command is missing; see tenure --help");
  if (verbs.length === 0) return usageFailure(`there is no command ${JSON.stringify(noun)}; see tenure --help`);
  if (verb === undefined) return usageFailure(`tenure ${noun} needs one of: ${verbs.join(", ")}`);
  return usageFailure(`tenure ${noun} has no ${JSON.stringify(verb)}; it has: ${verbs.join(", ")}`);
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
