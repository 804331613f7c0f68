/** A strict semantic version `x.y.z[-pre][+build]`. */
export interface SemanticVersion {
  readonly numbers: readonly [bigint, bigint, bigint];
  /** The parts after `-`; empty for a release. */
  readonly prerelease: readonly string[];
}

const number = "(0|[1-9]\\d*)";
const prereleasePart = "(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)";
const pattern = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${prereleasePart}(?:\\.${prereleasePart})*))?(?:\\+[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*)?$`,
);

/** The version that a text says; undefined if it is not strict: no leading `v`, exactly three numbers, no leading 0. */
export function parseVersion(text: string): SemanticVersion | undefined {
  const match = text.length <= 256 ? pattern.exec(text) : null;
  if (match === null) return undefined;
  const [, major = "0", minor = "0", patch = "0", prerelease] = match;
  return {
    numbers: [BigInt(major), BigInt(minor), BigInt(patch)],
    prerelease: prerelease === undefined ? [] : prerelease.split("."),
  };
}

/** Negative, zero or positive as in semver.org's precedence: 1.2.0 < 1.19.0, 1.0.0-rc.1 < 1.0.0. */
export function compareVersions(left: SemanticVersion, right: SemanticVersion): number {
  for (const place of [0, 1, 2] as const) {
    const difference = left.numbers[place] - right.numbers[place];
    if (difference !== 0n) return difference < 0n ? -1 : 1;
  }
  if (left.prerelease.length === 0 || right.prerelease.length === 0) {
    return Math.sign(right.prerelease.length - left.prerelease.length);
  }
  for (let place = 0; place < Math.min(left.prerelease.length, right.prerelease.length); place++) {
    const difference = comparePart(left.prerelease[place] ?? "", right.prerelease[place] ?? "");
    if (difference !== 0) return difference;
  }
  return Math.sign(left.prerelease.length - right.prerelease.length);
}

function comparePart(left: string, right: string): number {
  const isLeftNumber = /^\d+$/.test(left);
  const isRightNumber = /^\d+$/.test(right);
  if (isLeftNumber && isRightNumber) return BigInt(left) < BigInt(right) ? -1 : BigInt(left) > BigInt(right) ? 1 : 0;
  if (isLeftNumber !== isRightNumber) return isLeftNumber ? -1 : 1;
  return left < right ? -1 : left > right ? 1 : 0;
}
