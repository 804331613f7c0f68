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
  /**
   * Ends the work, after `term.signal` was aborted. What still runs when the term is over ends with the process; so it
   * does when stop rejects, because nothing says then that the work is over.
   */
  stop?(): Promise<void> | void;
}

/**
 * Runs a controller from its start to its stop. Rejects if it failed by itself. One that could not be stopped counts as
 * running for as long as the process lives: `onStuck` has to end that.
 */
export async function runController(
  controller: Controller,
  term: Term,
  onStuck: (error: unknown) => void,
): Promise<void> {
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
    try {
      await controller.stop?.();
    } catch (error) {
      onStuck(error);
      await new Promise<never>(() => undefined);
    }
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
