import type { OpenCall, Outcome } from "./open-call.ts";

/** A call that is given up by a signal; after that its outcome is not told. */
export function withCancel(
  start: (signal: AbortSignal, settle: (outcome: Outcome) => void) => void,
  done: (outcome: Outcome) => void,
): OpenCall {
  const abort = new AbortController();
  start(abort.signal, (outcome) => {
    if (!abort.signal.aborted) done(outcome);
  });
  return { cancel: () => abort.abort() };
}
