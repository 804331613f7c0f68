import { parseDuration } from "@tenure/kernel";
import { type CommandLine, readCommandLine } from "./command-line.ts";
import { commonVariables } from "./common-fields.ts";
import { type ReadFile, readConfigFile, whyUnreadable } from "./config-file.ts";
import { configVariable, type Environment, readEnvironment } from "./environment.ts";
import type { ConfigValue, ConfigValues, Field, Fields } from "./field.ts";
import type { Gathered, Given, Source } from "./given.ts";
import { type Key, keysOf } from "./key.ts";
import { parseValue } from "./parse-value.ts";
import { configFault, type Problem, quote } from "./problem.ts";

/** Everything that decides a configuration. Loading reads nothing else. */
export interface LoadInput<F extends Fields> {
  readonly fields: F;
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly environment: Environment;
  readonly readFile: ReadFile;
}

/** One value, and where it came from. */
export interface Setting {
  readonly key: string;
  readonly field: Field;
  readonly value: ConfigValue | undefined;
  readonly source: Source;
  /** The flag, variable or file and line that gave it. */
  readonly where: string;
}

/** A configuration that keeps every rule. */
export interface Config<F extends Fields> {
  readonly values: ConfigValues<F>;
  /** One per field, in the order of their description. */
  readonly settings: readonly Setting[];
}

/**
 * Flag over environment over file over default. Unknown names in any source and broken rules are all collected, and
 * thrown together as one fault with reason CONFIG_INVALID. A value that a stronger source overrides is not judged.
 */
export function loadConfig<const F extends Fields>(input: LoadInput<F>): Config<F> {
  const keys = keysOf(input.fields);
  const commandLine = readCommandLine(input.argv, keys);
  const sources = [
    commandLine,
    readEnvironment(input.environment, keys, commonVariables),
    readFileOf(commandLine, input, keys),
  ];
  const problems = sources.flatMap((source) => source.problems);
  const settings = Object.keys(input.fields).map((property) => {
    const own = keys.filter((key) => key.property === property);
    return resolve(own, sources, input.readFile, problems);
  });
  if (problems.length > 0) throw configFault(problems);
  const values = Object.fromEntries(Object.keys(input.fields).map((name, index) => [name, settings[index]?.value]));
  // The settings were parsed by the fields that the type is computed from.
  return { values: Object.freeze(values) as ConfigValues<F>, settings };
}

function readFileOf(commandLine: CommandLine, input: LoadInput<Fields>, keys: readonly Key[]): Gathered {
  const path = commandLine.configPath ?? input.environment[configVariable];
  if (path === undefined || path === "") return { given: new Map(), problems: [] };
  return readConfigFile(path, input.readFile, keys);
}

/** The strongest source that names any of a field's keys decides; a secret and its file at one source are refused. */
function resolve(keys: readonly Key[], sources: readonly Gathered[], readFile: ReadFile, problems: Problem[]): Setting {
  for (const source of sources) {
    const [first, second] = keys.flatMap((key) => {
      const given = source.given.get(key.key);
      return given === undefined ? [] : [{ key, given }];
    });
    if (first === undefined) continue;
    if (second !== undefined) {
      problems.push({ where: first.given.where, rule: `and ${second.given.where} exclude each other: give one` });
    }
    return judge(first.key, first.given, readFile, problems);
  }
  return fallBack(keys, problems);
}

function judge(key: Key, given: Given, readFile: ReadFile, problems: Problem[]): Setting {
  const parsed = parseValue(key.field, given.raw);
  const field: Field = key.indirect ? { kind: "secret", doc: key.field.doc } : key.field;
  const place = { key: key.key, field, source: given.source, where: given.where };
  if (parsed.kind === "broken") {
    const shown = field.kind === "secret" && !key.indirect ? {} : { value: quote(given.raw) };
    problems.push({ where: given.where, rule: parsed.rule, ...shown });
    return { ...place, value: undefined };
  }
  return { ...place, value: key.indirect ? contents(String(parsed.value), given, readFile, problems) : parsed.value };
}

/** A secret's file, without the line end that editors add. */
function contents(path: string, given: Given, readFile: ReadFile, problems: Problem[]): string | undefined {
  try {
    const text = readFile(path).replace(/\r?\n$/, "");
    if (text !== "") return text;
    problems.push({ where: given.where, rule: "names an empty file", value: quote(path) });
  } catch (thrown) {
    problems.push({ where: given.where, rule: `cannot be read: ${whyUnreadable(thrown)}`, value: quote(path) });
  }
  return undefined;
}

function fallBack(keys: readonly Key[], problems: Problem[]): Setting {
  const [key] = keys;
  if (key === undefined) throw new TypeError("a field has at least one key");
  const { field } = key;
  const place = { key: key.key, field };
  if (field.default !== undefined) {
    const value = field.kind === "duration" ? parseDuration(field.default) : field.default;
    return { ...place, value, source: "default", where: "default" };
  }
  if (field.required === true) {
    problems.push({ where: key.flag, rule: `is required: give it, ${key.environment} or ${key.key} in the file` });
  }
  return { ...place, value: undefined, source: "unset", where: "not set" };
}
