import type { Term } from "../term/term.ts";

/** Something that runs in one process at a time. */
export interface Controller {
  /** Its canonical name: the same in every component and version that has it. */
  readonly name: string;
  /**
   * Begins to work, under a term of the controller's own lease. It may resolve when it has begun or when its work is
   * over; either way the controller counts as running until {@link stop} has resolved. A rejection ends the manager.
   */
  start(term: Term): Promise<void> | void;
  /** Ends the work, after `term.signal` was aborted. What still runs when the term is over ends with the process. */
  stop?(): Promise<void> | void;
}

/** Runs a controller from its start to its stop. Rejects if it failed by itself. */
export async function runController(controller: Controller, term: Term): Promise<void> {
  const { signal } = term;
  const started = Promise.resolve().then(() => controller.start(term));
  const failed = started.then(
    () => new Promise<never>(() => undefined),
    (error: unknown) => {
      if (!signal.aborted) throw error;
    },
  );
  try {
    await Promise.race([whenAborted(signal), failed]);
  } finally {
    await controller.stop?.();
    // Told to stop, it may say so as it likes; a failure before that was thrown above.
    await started.catch(() => undefined);
  }
}

/** Resolves when the signal is aborted. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
