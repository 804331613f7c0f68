/** Samples of a replica's `/metrics`, by name and labels as they are spelt. */
export type Samples = ReadonlyMap<string, number>;

/** Reads what a process shows to Prometheus. */
export async function scrape(httpUrl: string): Promise<Samples> {
  const answer = await fetch(`${httpUrl}/metrics`);
  return parseSamples(await answer.text());
}

/** The samples of Prometheus text. */
export function parseSamples(text: string): Samples {
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    const end = line.lastIndexOf(" ");
    if (end > 0 && !line.startsWith("#")) samples.set(line.slice(0, end), Number(line.slice(end + 1)));
  }
  return samples;
}

/** The sum of a metric over all its labels. */
export function total(samples: Samples, name: string): number {
  let sum = 0;
  for (const [key, value] of samples) if (key === name || key.startsWith(`${name}{`)) sum += value;
  return sum;
}

/**
 * The upper bound of the bucket in which the given share of a histogram's observations since `before` lies: never less
 * than the true quantile. Undefined when there were none; infinite when it lies beyond the last bucket.
 */
export function quantileBound(before: Samples, after: Samples, name: string, share: number): number | undefined {
  const bounds = new Map<number, number>();
  for (const [key, value] of after) {
    const bound = key.startsWith(`${name}_bucket{`) ? /le="([^"]+)"/.exec(key)?.[1] : undefined;
    if (bound === undefined) continue;
    const le = bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound);
    bounds.set(le, (bounds.get(le) ?? 0) + value - (before.get(key) ?? 0));
  }
  const count = bounds.get(Number.POSITIVE_INFINITY) ?? 0;
  if (count === 0) return undefined;
  return [...bounds].sort(([left], [right]) => left - right).find(([, below]) => below >= share * count)?.[0];
}
