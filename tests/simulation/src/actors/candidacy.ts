import { type CandidatePreference, type CandidateSpec, defaultCandidateSpec, type Strategy } from "@tenure/core";
import type { Random } from "@tenure/kernel";

/** One of several, by chance. */
export function pick<T>(random: Random, from: readonly [T, ...T[]]): T {
  return from[Math.floor(random.next() * from.length)] ?? from[0];
}

/** A strategy without a text. */
export function plainStrategy(
  kind: "oldestCompatibilityVersion" | "newestCompatibilityVersion" | "priority",
): Strategy {
  return { kind, expression: "", vendor: "" };
}

/** What candidates say of themselves where only the store is looked at. */
export const sameForAll: CandidateSpec = {
  ...defaultCandidateSpec,
  binaryVersion: "1.0.0",
  compatibilityVersion: "1.0.0",
  // Longer than any run, so that a candidate counts for as long as its record is there.
  validityMs: 600_000,
};

/** A binary version and one that is compatible with it. */
export function drawVersions(random: Random): Pick<CandidateSpec, "binaryVersion" | "compatibilityVersion"> {
  const minor = 20 + Math.floor(random.next() * 4);
  const behind = random.next() < 0.5 ? 0 : 1;
  return { binaryVersion: `1.${minor}.0`, compatibilityVersion: `1.${minor - behind}.0` };
}

/** What a candidate says of itself in worlds where that matters. */
export function drawCandidacy(random: Random): CandidateSpec {
  const strategy = plainStrategy(
    pick(random, [
      "oldestCompatibilityVersion",
      "oldestCompatibilityVersion",
      "newestCompatibilityVersion",
      "priority",
    ]),
  );
  const preference = pick<CandidatePreference>(random, [
    "neutral",
    "neutral",
    "neutral",
    "neutral",
    "preferred",
    "lastResort",
  ]);
  return { ...sameForAll, ...drawVersions(random), strategy, preference };
}
