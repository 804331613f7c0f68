const shares = [0.5, 0.99, 0.999];

/** The middle and the slow end of durations, for people. */
export function percentiles(valuesMs: readonly number[]): string {
  const sorted = valuesMs.toSorted((left, right) => left - right);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  return shares.map((share) => `p${share * 100} ${at(share)} ms`).join(", ");
}
