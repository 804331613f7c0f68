import type { Clock } from "@tenure/kernel";

/** One answer for all who ask within `forMs` of the first: many who ask cost no more than one. */
export function sharedAnswer<Answer>(clock: Clock, forMs: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let last: { readonly askedAtMs: number; readonly answer: Promise<Answer> } | undefined;
  return () => {
    const now = clock.now();
    if (last === undefined || now - last.askedAtMs >= forMs) last = { askedAtMs: now, answer: ask() };
    return last.answer;
  };
}
