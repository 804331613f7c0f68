/** The oldest nats-server that keeps what it acknowledged when it is killed; older ones lost streams. */
export const minimumServerVersion = "2.10.23";

/** The release that is fetched where no distribution package can be had. */
export const recommendedServerVersion = "2.15.1";

const versionPattern = /(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?/;

/** The version in what `nats-server --version` prints, for example `2.10.27` or `2.12.0-RC.1`. */
export function parseServerVersion(output: string): string | undefined {
  return versionPattern.exec(output)?.[0];
}

/** The upstream version of a Debian package version: no epoch, no repack suffix, no revision. */
export function upstreamVersion(packageVersion: string): string | undefined {
  const withoutEpoch = packageVersion.replace(/^\d+:/, "");
  const withoutRevision = withoutEpoch.replace(/-[^-]*$/, "");
  return parseServerVersion(withoutRevision.replace(/\+.*$/, "").replace("~", "-"));
}

/** Negative, zero or positive as `left` is older than, equal to or newer than `right`. A pre-release is older than its release. */
export function compareServerVersions(left: string, right: string): number {
  const leftParts = versionPattern.exec(left) ?? [];
  const rightParts = versionPattern.exec(right) ?? [];
  for (const index of [1, 2, 3]) {
    const difference = Number(leftParts[index] ?? 0) - Number(rightParts[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePreReleases(leftParts[4], rightParts[4]);
}

function comparePreReleases(left: string | undefined, right: string | undefined): number {
  if (left === right) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  return left < right ? -1 : 1;
}

/** Whether `version` may be used where `minimum` is asked for. */
export function isSufficient(version: string, minimum: string): boolean {
  return compareServerVersions(version, minimum) >= 0;
}
