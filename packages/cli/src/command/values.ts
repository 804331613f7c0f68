import { parseDuration } from "@tenure/kernel";
import { usageFailure } from "../exit-code.ts";

/** The whole number that a text says; `name` is the flag or variable that it came with. */
export function wholeNumber(text: string, name: string): bigint {
  if (/^\d+$/.test(text)) return BigInt(text);
  throw usageFailure(`${name} must be a whole number (got ${JSON.stringify(text)})`);
}

/** The flags of a command line, read by name. */
export class Values {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  /** Whether a switch was given. */
  has(name: string): boolean {
    return this.#values[name] === true;
  }

  /** Whether a flag of any kind was given. */
  isGiven(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  /** The text of a flag; undefined if it was not given. */
  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** The text of a flag that must be given. */
  required(name: string): string {
    const text = this.text(name);
    if (text === undefined || text === "") throw usageFailure(`--${name} must be given`);
    return text;
  }

  /** Every value of a flag that may be given several times. */
  all(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** Milliseconds of a flag. */
  durationMs(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : parseDuration(text, `--${name}`);
  }

  /** A whole number within bounds. */
  integer(name: string, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw usageFailure(`--${name} must be a whole number from ${least} to ${most} (got ${JSON.stringify(text)})`);
  }

  /** A whole number without a bound, such as a token. */
  bigint(name: string): bigint | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : wholeNumber(text, `--${name}`);
  }

  /** `key=value` pairs. */
  pairs(name: string): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.all(name).map((pair) => {
        const at = pair.indexOf("=");
        if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
        throw usageFailure(`--${name} must be KEY=VALUE (got ${JSON.stringify(pair)})`);
      }),
    );
  }
}
