import { tooManyWatchers } from "./faults.ts";

/** How many watches a process serves. */
export interface OpenWatches {
  count: number;
}

/**
 * Counts a watch until it is disposed of; throws when there are as many as there may be. To be taken before anything is
 * awaited, so that many who come at once do not pass the limit.
 */
export function takePlace(open: OpenWatches, most: number): Disposable {
  if (open.count >= most) throw tooManyWatchers(most);
  open.count += 1;
  return {
    [Symbol.dispose]() {
      open.count -= 1;
    },
  };
}
