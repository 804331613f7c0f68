/**
 * Work in pieces of a few milliseconds: the caller may do other things between two of them, and may not give up before
 * the last one, which gives the result.
 */
export type Steps<Result> = Generator<void, Result, void>;

/** How many small records one step deals with: one to five milliseconds on a slow core. */
export const recordsPerStep = 512;

/** Does all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Sorts as `Array.sort` does with the same comparison, in steps: runs of one step each, merged two by two. */
export function* sortInSteps<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
): Steps<readonly Item[]> {
  let sorted: Item[] = [];
  for (let from = 0; from < items.length; from += recordsPerStep) {
    if (from > 0) yield;
    sorted = sorted.concat(items.slice(from, from + recordsPerStep).sort(compare));
  }
  for (let run = recordsPerStep; run < sorted.length; run *= 2) {
    const merged: Item[] = [];
    for (let from = 0; from < sorted.length; from += 2 * run) {
      yield* mergeInto(merged, sorted.slice(from, from + run), sorted.slice(from + run, from + 2 * run), compare);
    }
    sorted = merged;
  }
  return sorted;
}

function* mergeInto<Item>(
  merged: Item[],
  left: readonly Item[],
  right: readonly Item[],
  compare: (left: Item, right: Item) => number,
): Steps<void> {
  let fromRight = 0;
  for (const item of left) {
    for (let other = right[fromRight]; other !== undefined && compare(item, other) > 0; other = right[fromRight]) {
      merged.push(other);
      fromRight += 1;
      if (merged.length % recordsPerStep === 0) yield;
    }
    merged.push(item);
    if (merged.length % recordsPerStep === 0) yield;
  }
  for (const other of right.slice(fromRight)) merged.push(other);
}
