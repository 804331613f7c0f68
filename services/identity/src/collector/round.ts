import type { Asking } from "@tenure/session";

/** One round of collection: who asks, and as what. */
export interface Round {
  /** Nothing is changed; what would be done is reported. */
  readonly isDryRun: boolean;
  /** False when the lease is lost or the round is over: nothing more is begun then. */
  readonly isGoing: () => boolean;
  readonly asking: Asking;
}

/** Records that are collected at the same time: their removals share the owners' batches. */
const atOnce = 64;

/** Works on items, some at once, as long as the round goes on. */
export async function inChunks<Item, Answer>(
  items: readonly Item[],
  { isGoing }: Round,
  work: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let start = 0; start < items.length && isGoing(); start += atOnce) {
    answers.push(...(await Promise.all(items.slice(start, start + atOnce).map(work))));
  }
  return answers;
}
