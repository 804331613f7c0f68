import { readCommandLine, requestOf } from "./command-line.ts";
import type { Fields } from "./field.ts";
import { keysOf } from "./key.ts";
import { type Config, type LoadInput, loadConfig } from "./load.ts";
import { printConfig, printConfigJson } from "./print.ts";
import { type Program, usage } from "./usage.ts";

/** A program's surroundings plus what its help and `--version` say. */
export interface ConfigureInput<F extends Fields> extends LoadInput<F>, Omit<Program, "fields"> {
  readonly version: string;
}

/** Run with this configuration, or print this text and exit with code 0. */
export type Configured<F extends Fields> =
  | { readonly kind: "run"; readonly config: Config<F> }
  | { readonly kind: "print"; readonly text: string };

/**
 * The whole command line of a program: answers `--help`, `--version` and `--print-config`, else loads. Pure: the
 * caller prints and exits. Throws the fault of {@link loadConfig}.
 */
export function configure<const F extends Fields>(input: ConfigureInput<F>): Configured<F> {
  const request = requestOf(input.argv);
  if (request === "help") return { kind: "print", text: usage(input) };
  if (request === "version") return { kind: "print", text: `${input.name} ${input.version}\n` };
  const config = loadConfig(input);
  if (request === "run") return { kind: "run", config };
  const { output } = readCommandLine(input.argv, keysOf(input.fields));
  const text = output === "json" ? printConfigJson(config.settings) : printConfig(config.settings);
  return { kind: "print", text };
}
