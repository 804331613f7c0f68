/**
 * The candidate that is most like `name`, when it is near enough to be a slip of the keys: at most a quarter of the
 * letters changed, and never fewer than two allowed. What all names of a kind begin with does not count.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const core = coreOf(name);
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(core.length / 4)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(core, coreOf(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function coreOf(name: string): string {
  return name.replace(/^(--|TENURE_)/, "");
}

/** How many letters must be inserted, deleted, replaced or swapped with their neighbour to make `to` of `from`. */
export function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped && row > 1 && column > 1 ? (beforePrevious[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}
