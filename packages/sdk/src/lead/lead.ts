import { isTenureError } from "../errors.ts";
import type { ClientContext } from "../instance/client-context.ts";
import { lossExitCode } from "../instance/end-process.ts";
import type { HeldTerm } from "../term/held-term.ts";
import { type LeaseName, showLease } from "../term/lease-name.ts";
import type { Term } from "../term/term.ts";
import { describeEnd, isOnRequest } from "../term/term-end.ts";
import { optionError } from "../timing/duration-input.ts";
import { type CampaignOptions, campaign, planCampaign } from "./campaign.ts";

/** What may be said about leading. */
export interface LeadOptions extends CampaignOptions {
  /** Lead for one term only, and resolve with what its function returned. Default false: campaign for ever. */
  readonly once?: boolean | undefined;
  /**
   * End the process when leadership is lost, after the function has returned: with code 20, or the given one. For
   * daemons that start afresh. An end on request (the signal, a step down, a close) is no loss.
   */
  readonly exitOnLoss?: boolean | number | undefined;
}

/** What runs while this process leads. */
export type Work<Result> = (term: Term) => Promise<Result> | Result;

/**
 * Campaigns and runs the function once per term. Resolves when stopped, or after one term with `once`; rejects when the
 * function throws something that is not the end of its term, or when the claim can never succeed.
 */
export async function lead<Result>(
  context: ClientContext,
  lease: LeaseName,
  options: LeadOptions,
  work: Work<Result>,
): Promise<Result | undefined> {
  if (typeof work !== "function") throw optionError("work", "must be a function that takes the term", String(work));
  const plan = planCampaign(context, lease, options);
  for await (const term of campaign(context, plan, options.signal)) {
    const result = await runTerm(term, work, options.once ?? false);
    exitIfLost(context, term, options.exitOnLoss ?? false);
    if (options.once ?? false) return result;
  }
  return undefined;
}

/** The function's own end, then the release. An error that only says that the term ended is no failure of the function. */
async function runTerm<Result>(term: HeldTerm, work: Work<Result>, isOnce: boolean): Promise<Result | undefined> {
  try {
    return await work(term);
  } catch (error) {
    if (isOnce || !isOfSignal(error, term.signal)) throw error;
    return undefined;
  } finally {
    await term.release();
  }
}

/** Whether an error is how the function heard of its signal: the reason itself, or what wraps or follows from it. */
function isOfSignal(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted || !(error instanceof Error)) return false;
  return (
    error === signal.reason || error.cause === signal.reason || error.name === "AbortError" || isTenureError(error)
  );
}

function exitIfLost(context: ClientContext, term: HeldTerm, exitOnLoss: boolean | number): void {
  const { end } = term;
  if (exitOnLoss === false || end === undefined || isOnRequest(end)) return;
  const code = exitOnLoss === true ? lossExitCode : exitOnLoss;
  const name = `lease ${showLease(term.lease)} (token ${term.token})`;
  context.endProcess(code, `the leadership of ${name} ended: ${describeEnd(end)}`);
}
