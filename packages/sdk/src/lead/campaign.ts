import { type CoordinatedOptions, coordinatedCampaign } from "../coordinated/index.ts";
import { isHopeless, toTenureError } from "../errors.ts";
import { type ClientContext, stopSignal } from "../instance/client-context.ts";
import { claimTerms, type PlannedClaim, planClaim } from "../term/claim-terms.ts";
import type { HeldTerm } from "../term/held-term.ts";
import type { HoldOptions } from "../term/hold-options.ts";
import { type LeaseName, showLease } from "../term/lease-name.ts";
import { optionError } from "../timing/duration-input.ts";
import { claimByPrecedence, type Precedence, type PrecedenceOptions, planPrecedence } from "./precedence.ts";

/** What may be said about a campaign. */
export interface CampaignOptions extends HoldOptions, PrecedenceOptions {
  /** Aborting it ends the campaign: the queue is left, or the running term is asked to finish. */
  readonly signal?: AbortSignal | undefined;
  /** Has the election service choose the leader by what its candidates say of themselves; otherwise the first leads. */
  readonly coordinated?: CoordinatedOptions | undefined;
}

/** A campaign that was checked. */
export interface PlannedCampaign extends PlannedClaim {
  readonly coordinated: CoordinatedOptions | undefined;
  readonly precedence: Precedence | undefined;
}

/** Checks the options of a campaign; throws INVALID_ARGUMENT. */
export function planCampaign(context: ClientContext, lease: LeaseName, options: CampaignOptions): PlannedCampaign {
  const { coordinated, holderKey = "", keyComparison } = options;
  const precedence = planPrecedence(options, holderKey);
  if (coordinated !== undefined && precedence !== undefined) {
    throw optionError("keyComparison", "must not be given with coordinated", String(keyComparison));
  }
  return { ...planClaim(context, [lease], { mode: "exclusive" }, options), coordinated, precedence };
}

/**
 * One term after the other, for ever, until the signal is aborted, the client closes, or a claim fails in a way that no
 * retry mends. The next claim is made only after the term before is over: its block was left or its function returned,
 * and its release was answered.
 */
export async function* campaign(
  context: ClientContext,
  plan: PlannedCampaign,
  signal: AbortSignal | undefined,
): AsyncGenerator<HeldTerm, void, undefined> {
  if (plan.coordinated !== undefined) {
    yield* coordinatedCampaign(context, plan, plan.coordinated, signal);
    return;
  }
  const stop = stopSignal(context, signal);
  const { clock } = context.session;
  for (;;) {
    const term = await winTerm(context, plan, stop);
    if (term === undefined) return;
    const beganAtMs = clock.now();
    const onStop = (): void => term.stop(stop.reason);
    stop.addEventListener("abort", onStop, { once: true });
    try {
      if (stop.aborted) return;
      yield term;
    } finally {
      await term.release();
      stop.removeEventListener("abort", onStop);
    }
    // A function that returns at once would otherwise claim and release in a loop.
    if (clock.now() - beganAtMs < plan.timing.renewIntervalMs) await pause(context, retryPauseMs(context, plan), stop);
  }
}

/** Waits in the queue until granted. Undefined when stopped. A failed attempt is repeated after a jittered pause. */
async function winTerm(
  context: ClientContext,
  plan: PlannedCampaign,
  stop: AbortSignal,
): Promise<HeldTerm | undefined> {
  const [lease] = plan.leases;
  if (lease === undefined) return undefined;
  const metrics = context.metrics.of(showLease(lease));
  context.emit?.({ kind: "campaigning", lease });
  while (!stop.aborted) {
    try {
      const options = { signal: stop, waitMs: "forever" } as const;
      const { precedence } = plan;
      const terms = await (precedence === undefined
        ? claimTerms(context, plan, options)
        : claimByPrecedence(context, plan, precedence, options));
      if (terms?.[0] !== undefined) return terms[0];
    } catch (thrown) {
      if (stop.aborted) return undefined;
      const error = toTenureError(thrown);
      if (isHopeless(error) || error.reason === "HOLD_MODE_MISMATCH") throw error;
      const retryInMs = Math.max(retryPauseMs(context, plan), error.details.retryAfterMs ?? 0);
      metrics.claimsFailed += 1;
      context.emit?.({ kind: "claim-failed", lease, error, retryInMs });
      await pause(context, retryInMs, stop);
    }
  }
  return undefined;
}

/** R x [1, 2.2), from the end of the last attempt: a fleet that failed together does not come back together. */
export function retryPauseMs(context: ClientContext, { timing }: PlannedClaim): number {
  return timing.renewIntervalMs * (1 + 1.2 * context.session.random.next());
}

async function pause(context: ClientContext, durationMs: number, stop: AbortSignal): Promise<void> {
  await context.session.clock.sleep(durationMs, stop).catch(() => undefined);
}
