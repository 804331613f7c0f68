/** How a set of durations is spread, in ms. */
export interface Spread {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
}

/** The spread of durations; all zero if there are none. */
export function spreadOf(durationsMs: readonly number[]): Spread {
  const sorted = Float64Array.from(durationsMs).sort();
  const at = (share: number) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(1) };
}

/** A tenth of a millisecond is as much as a busy machine tells. */
export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
