import { Fault, systemClock } from "@tenure/kernel";

/** How long and how often to look. */
export interface WaitOptions {
  /** The bound of the whole wait; 30 s unless said, generous because a test machine may be slow. */
  readonly timeoutMs?: number;
  /** The pause between two looks; 20 ms unless said. */
  readonly intervalMs?: number;
  /** What is waited for, in the words of the failure message. */
  readonly describe?: string;
  readonly signal?: AbortSignal;
}

const defaultTimeoutMs = 30_000;
const defaultIntervalMs = 20;

/** What a condition answers while it does not hold. */
type NotYet = false | undefined | null;

/**
 * Looks until the condition holds and returns what it answered. A condition that throws does not hold yet; its last
 * error is the cause of the fault when the time is over.
 */
export async function waitFor<T>(
  condition: () => T | NotYet | Promise<T | NotYet>,
  options: WaitOptions = {},
): Promise<Exclude<T, NotYet>> {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const deadlineMs = systemClock.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      const answer = await condition();
      if (answer !== false && answer !== undefined && answer !== null) return answer as Exclude<T, NotYet>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (systemClock.now() >= deadlineMs) throw timeoutFault(options.describe, timeoutMs, cause);
    await systemClock.sleep(options.intervalMs ?? defaultIntervalMs, options.signal);
  }
}

function timeoutFault(describe: string | undefined, timeoutMs: number, cause: unknown): Fault {
  const why = cause === undefined ? "" : ` (last error: ${cause instanceof Error ? cause.message : String(cause)})`;
  return new Fault({
    code: "DEADLINE_EXCEEDED",
    reason: "CONDITION_NOT_MET",
    message: `waited ${timeoutMs} ms in vain for ${describe ?? "a condition"}${why}`,
    cause,
  });
}
