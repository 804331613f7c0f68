import { type Gathered, type Given, unknownName } from "./given.ts";
import type { Key } from "./key.ts";
import { type Problem, quote } from "./problem.ts";

/** What the user asks of the program besides running it. */
export type Request = "run" | "help" | "version" | "print-config";

/** A command line, read. */
export interface CommandLine extends Gathered {
  readonly request: Request;
  /** How `--print-config` answers. */
  readonly output: "text" | "json";
  readonly configPath: string | undefined;
}

const requests: ReadonlyMap<string, Request> = new Map([
  ["--help", "help"],
  ["-h", "help"],
  ["--version", "version"],
  ["-V", "version"],
  ["--print-config", "print-config"],
]);

/** What the user asks for; help and version are answered also when the rest is wrong. */
export function requestOf(argv: readonly string[]): Request {
  const asked = new Set(argv.map((argument) => requests.get(argument)));
  for (const request of ["help", "version", "print-config"] as const) if (asked.has(request)) return request;
  return "run";
}

/** Reads `--key value`, `--key=value`, `--flag` and `--no-flag`. Whatever else is there is refused by name. */
export function readCommandLine(argv: readonly string[], keys: readonly Key[]): CommandLine {
  const reader = new Reader(argv, keys);
  reader.read();
  return {
    request: requestOf(argv),
    output: reader.output,
    configPath: reader.configPath,
    given: reader.given,
    problems: reader.problems,
  };
}

const ownFlags = ["--config", "--print-config", "--help", "--version", "--output"];

class Reader {
  readonly given = new Map<string, Given>();
  readonly problems: Problem[] = [];
  output: "text" | "json" = "text";
  configPath: string | undefined;
  readonly #rest: string[];
  readonly #byFlag: ReadonlyMap<string, Key>;

  constructor(argv: readonly string[], keys: readonly Key[]) {
    this.#rest = [...argv];
    this.#byFlag = new Map(keys.map((key) => [key.flag, key]));
  }

  read(): void {
    for (let argument = this.#rest.shift(); argument !== undefined; argument = this.#rest.shift()) {
      this.#take(argument);
    }
  }

  #take(argument: string): void {
    if (requests.has(argument)) return;
    if (!argument.startsWith("-") || argument === "-") {
      this.problems.push({ where: quote(argument), rule: "is not expected here: every option begins with --" });
      return;
    }
    const equals = argument.indexOf("=");
    const flag = equals < 0 ? argument : argument.slice(0, equals);
    const inline = equals < 0 ? undefined : argument.slice(equals + 1);
    if (flag === "--output" || flag === "-o") this.#takeOutput(flag, this.#value(flag, inline));
    else if (flag === "--config") this.configPath = this.#value(flag, inline);
    else this.#takeField(flag, inline);
  }

  #takeField(flag: string, inline: string | undefined): void {
    const key = this.#byFlag.get(flag);
    if (key !== undefined) {
      if (key.field.kind === "boolean") this.#give(key, flag, inline ?? "true");
      else this.#give(key, flag, this.#value(flag, inline));
      return;
    }
    const negated = flag.startsWith("--no-") ? this.#byFlag.get(`--${flag.slice(5)}`) : undefined;
    if (negated?.field.kind === "boolean" && inline === undefined) {
      this.#give(negated, flag, "false");
      return;
    }
    this.problems.push(unknownName(flag, "flag", flag, [...this.#byFlag.keys(), ...ownFlags]));
    if (inline === undefined && this.#rest[0]?.startsWith("-") === false) this.#rest.shift();
  }

  #takeOutput(flag: string, value: string | undefined): void {
    if (value === "text" || value === "json") this.output = value;
    else if (value !== undefined)
      this.problems.push({ where: flag, rule: "must be text or json", value: quote(value) });
  }

  #value(flag: string, inline: string | undefined): string | undefined {
    if (inline !== undefined) return inline;
    const next = this.#rest[0];
    if (next !== undefined && !next.startsWith("--")) return this.#rest.shift();
    this.problems.push({ where: flag, rule: "needs a value" });
    return undefined;
  }

  #give(key: Key, flag: string, raw: string | undefined): void {
    if (raw === undefined) return;
    const earlier = this.given.get(key.key);
    if (earlier === undefined) this.given.set(key.key, { source: "flag", where: flag, raw });
    else if (key.field.kind === "list") {
      this.given.set(key.key, { ...earlier, raw: [earlier.raw, raw].flat() });
    } else this.problems.push({ where: flag, rule: `is given more than once (also as ${earlier.where})` });
  }
}
