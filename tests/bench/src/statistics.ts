/** The value in the middle; between the two middle ones if their number is even. NaN of nothing. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which the given share of values lies, interpolated. NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/** The least and the greatest value. */
export function spread(values: readonly number[]): { readonly least: number; readonly greatest: number } {
  return { least: Math.min(...values), greatest: Math.max(...values) };
}
