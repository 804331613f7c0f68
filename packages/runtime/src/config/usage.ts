import { redactLogins } from "@tenure/kernel";
import { configVariable } from "./environment.ts";
import type { Field, Fields } from "./field.ts";
import { type Key, keysOf } from "./key.ts";

/** What heads the help of a program. */
export interface Program {
  /** As it is called: `tenure lease-store`, `tenure-provision init`. */
  readonly name: string;
  /** One sentence: what it does. */
  readonly summary: string;
  readonly fields: Fields;
}

/** The answer to `--help`: every flag with its variable, default and meaning. */
export function usage({ name, summary, fields }: Program): string {
  const options = keysOf(fields).map(describe);
  return [
    `${name}: ${summary}`,
    "",
    `Usage: ${name} [--key value | --key=value]...`,
    "",
    "Each value is taken from its flag, else its environment variable, else the configuration file, else its default.",
    "",
    ...options,
    `  --config <path>  [${configVariable}]`,
    "      Configuration file in YAML or JSON; its keys are the flags without the leading dashes.",
    "  --print-config  [-o text|json]",
    "      Print every value with its source, secrets hidden, and exit.",
    "  --help, -h",
    "  --version, -V",
    "",
  ].join("\n");
}

function describe({ flag, environment, field }: Key): string {
  const title = `  ${[flag, placeholder(field)].filter((part) => part !== "").join(" ")}  [${environment}]`;
  return `${title}\n      ${field.doc}${defaultText(field)}`;
}

function placeholder(field: Field): string {
  switch (field.kind) {
    case "boolean":
      return "";
    case "choice":
      return `<${field.choices.join("|")}>`;
    case "integer":
      return `<${field.min}..${field.max}>`;
    case "list":
      return "<item,...>";
    case "secret":
      return "<text>";
    case "string":
      return "<text>";
    default:
      return `<${field.kind}>`;
  }
}

function defaultText(field: Field): string {
  if (field.required === true) return " Required.";
  if (field.default === undefined) return "";
  return ` Default: ${redactLogins(String(field.default))}.`;
}
