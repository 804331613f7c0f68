import type { Clock } from "@tenure/kernel";

/** Does work step by step, and lets the event loop do other things in between. The first step is done at once. */
export async function inSteps<Result>(steps: Generator<unknown, Result, void>, clock: Clock): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await clock.sleep(0);
  }
}
