import { nearest } from "./nearest.ts";
import type { Problem } from "./problem.ts";

/** Where a value came from, strongest first. `unset`: no source gave one and the field has no default. */
export type Source = "flag" | "environment" | "file" | "default" | "unset";

/** A value as it was given, before its field's rule is applied. */
export interface Given {
  readonly source: "flag" | "environment" | "file";
  /** The place, as errors and `--print-config` name it. */
  readonly where: string;
  readonly raw: unknown;
}

/** What one source gave, by key, and what was wrong with how it was given. */
export interface Gathered {
  readonly given: ReadonlyMap<string, Given>;
  readonly problems: readonly Problem[];
}

/** The problem of a name that nobody knows, with the nearest one that somebody does. */
export function unknownName(where: string, kind: string, name: string, known: Iterable<string>): Problem {
  const suggestion = nearest(name, known);
  return {
    where,
    rule: `is not a known ${kind}: ${suggestion === undefined ? "see --help" : `did you mean ${suggestion}?`}`,
  };
}
