import { compareVersions, parseVersion, type SemanticVersion } from "./semantic-version.ts";

type Operator = ">=" | "<=" | ">" | "<" | "=";

/** Tests that a version must pass, all of them. */
export type VersionRange = readonly { readonly operator: Operator; readonly version: SemanticVersion }[];

/** The range that a text such as `>=1.21.0 <1.23.0` says; empty is every version; undefined if it is malformed. */
export function parseVersionRange(text: string): VersionRange | undefined {
  const range: { operator: Operator; version: SemanticVersion }[] = [];
  for (const test of text.trim().split(/\s+/)) {
    if (test === "") continue;
    const [, operator, rest] = /^(>=|<=|>|<|=)?(.*)$/.exec(test) ?? [];
    const version = parseVersion(rest ?? "");
    if (version === undefined) return undefined;
    range.push({ operator: (operator ?? "=") as Operator, version });
  }
  return range;
}

/** Whether a version passes every test of a range. Pre-releases compare like any other version. */
export function isInRange(version: SemanticVersion, range: VersionRange): boolean {
  return range.every((test) => passes(compareVersions(version, test.version), test.operator));
}

function passes(order: number, operator: Operator): boolean {
  switch (operator) {
    case ">=":
      return order >= 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case "<":
      return order < 0;
    case "=":
      return order === 0;
  }
}
