/** A version of nats-server. Build metadata after `+` is not kept: it does not order versions. */
export interface NatsVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** True for `2.12.0-RC.3`, which comes before `2.12.0`. */
  readonly isPrerelease: boolean;
}

/** The parts of `2.15.1`, `v2.12.0-RC.3` or `2.10.27+debian`; undefined for anything else. */
export function parseNatsVersion(text: string): NatsVersion | undefined {
  const match = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.~-]+)?([+~][0-9A-Za-z.~+-]*)?$/.exec(text.trim());
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease] = match;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), isPrerelease: prerelease !== undefined };
}

/**
 * What a version is good for: `production`; `development` (2.10 lacks what later lines have fixed, and was not broken
 * in our runs); `faulty` (a line that is fine, before the release that fixed it); `refused` (compare-and-set or
 * durability is broken); `unknown` (the text is not a version).
 */
export type VersionVerdict = "production" | "development" | "faulty" | "refused" | "unknown";

/** The first release of each line that has every known fix, as `[minor, patch]` of version 2. */
const productionFloors: readonly (readonly [number, number])[] = [
  [11, 16],
  [12, 15],
  [14, 5],
];

/** Every release of this line and of later ones is good. */
const firstGoodMinor = 15;

/** The oldest release that keeps streams through a kill; earlier ones also break compare-and-set. */
const developmentFloor: readonly [number, number] = [10, 23];

/** The floors in words, for messages. */
export const productionFloorText = "2.11.16, 2.12.15, 2.14.5, or any 2.15 and later";

/** Judges a version by the floors. A prerelease counts as before its release. */
export function judgeNatsVersion(text: string): VersionVerdict {
  const version = parseNatsVersion(text);
  if (version === undefined) return "unknown";
  const { major, minor, isPrerelease } = version;
  const patch = isPrerelease ? version.patch - 1 : version.patch;
  if (major > 2) return "production";
  if (major < 2 || minor < developmentFloor[0]) return "refused";
  if (minor === developmentFloor[0]) return patch >= developmentFloor[1] ? "development" : "refused";
  if (minor > firstGoodMinor || (minor === firstGoodMinor && patch >= 0)) return "production";
  const floor = productionFloors.find(([line]) => line === minor);
  return floor !== undefined && patch >= floor[1] ? "production" : "faulty";
}
