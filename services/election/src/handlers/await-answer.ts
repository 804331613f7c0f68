import type { CallContext } from "@tenure/bus";
import { leaseKeyToWire, StoreServicePingRequest } from "@tenure/contracts";
import { answerOf, hasAnswered, type LeaseKey } from "@tenure/core";
import { Fault, formatDuration } from "@tenure/kernel";
import { askingOf, type ElectionContext, requireView } from "./election-context.ts";

/** Of the caller's time, what is left for the change itself, in milliseconds. */
const changeMs = 1_000;

/** Resolves when a candidate has shown that it is alive, asking it if need be; CANDIDATE_NOT_ELECTABLE if it does not. */
export async function awaitAnswer(
  context: ElectionContext,
  lease: LeaseKey,
  name: string,
  scope: CallContext,
): Promise<void> {
  if (isAnswering(context, lease, name)) return;
  const { answerBoundMs } = requireView(context, lease).timing;
  const waitMs = Math.max(1, Math.min(answerBoundMs, scope.remainingMs() - changeMs));
  const answered = untilAnswered(context, lease, name, waitMs, scope.signal);
  try {
    const question = { lease: leaseKeyToWire(lease), candidates: [name], coordinator: context.instance };
    await context.store.ping(lease, StoreServicePingRequest.fromPartial(question), askingOf(scope));
    if (await answered.promise) return;
  } finally {
    answered.stop();
  }
  throw new Fault({
    code: "FAILED_PRECONDITION",
    reason: "CANDIDATE_NOT_ELECTABLE",
    message: `candidate ${name} of lease ${lease} did not answer within ${formatDuration(Math.round(waitMs))}`,
    details: { lease, applied: "NO", attributes: { why: "silent" } },
  });
}

function isAnswering(context: ElectionContext, lease: LeaseKey, name: string): boolean {
  const view = requireView(context, lease);
  const candidate = view.record.candidates?.get(name);
  return candidate !== undefined && hasAnswered(answerOf(candidate, view, context.clock.now()));
}

/** Follows the candidate's answers from now on. */
function untilAnswered(
  context: ElectionContext,
  lease: LeaseKey,
  name: string,
  waitMs: number,
  signal: AbortSignal,
): { readonly promise: Promise<boolean>; stop(): void } {
  let stop = () => {};
  const promise = new Promise<boolean>((resolve) => {
    const look = () => {
      const view = context.viewOf(lease);
      const candidate = view?.record.candidates?.get(name);
      if (view === undefined || candidate === undefined) return;
      if (hasAnswered(answerOf(candidate, view, context.clock.now()))) resolve(true);
    };
    const listener = { onChanges: look, onGap: look };
    const unfollow = context.reader.hub.follow(listener, { leases: [lease], wantsRenewals: true });
    const timer = context.clock.schedule(waitMs, () => resolve(false));
    const onAbort = () => resolve(false);
    signal.addEventListener("abort", onAbort, { once: true });
    stop = () => {
      unfollow();
      timer.cancel();
      signal.removeEventListener("abort", onAbort);
    };
  });
  return { promise, stop: () => stop() };
}
