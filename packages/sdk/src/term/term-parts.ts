import type { TermTiming } from "../timing/term-timing.ts";

/** What a term needs besides its grant. */
export interface TermParts {
  readonly timing: TermTiming;
  /** What happens when the function still runs at the deadline: the process ends, or the signal has to do. */
  readonly onOverrun: "exit" | "signal-only";
  /** The name that its metrics carry. */
  readonly metricsName: string;
  /** When the thread that renews is told of it: soon, or when it turns out to last. */
  readonly told: "soon" | "later";
}
