import { compareVersions, parseVersion } from "../semantic-version.ts";

/** The built-in comparisons of holder keys, for direct users of a lease. */
export type KeyOrder = "highestVersion" | "lowestVersion" | "highestNumber";

/**
 * Whether a claimant takes precedence over the holder, by their keys. A key that is empty or says nothing ranks lowest:
 * whoever has one takes precedence over a holder without (statement 106), and one without over nobody. Equal keys keep
 * the holder, so a claimant never takes precedence over its own key.
 */
export function takesPrecedence(own: string, existing: string, order: KeyOrder): boolean {
  const difference = order === "highestNumber" ? byNumber(own, existing) : byVersion(own, existing);
  if (difference === undefined) return false;
  return order === "lowestVersion" ? difference === "below" || difference === "alone" : difference !== "below";
}

type Difference = "above" | "below" | "alone" | undefined;

function byVersion(own: string, existing: string): Difference {
  const left = parseVersion(own);
  const right = parseVersion(existing);
  if (left === undefined) return undefined;
  if (right === undefined) return "alone";
  return sideOf(compareVersions(left, right));
}

function byNumber(own: string, existing: string): Difference {
  const [left, right] = [own, existing].map((key) => (/^-?\d{1,15}$/.test(key) ? Number(key) : undefined));
  if (left === undefined) return undefined;
  return right === undefined ? "alone" : sideOf(left - right);
}

function sideOf(difference: number): Difference {
  return difference === 0 ? undefined : difference > 0 ? "above" : "below";
}
