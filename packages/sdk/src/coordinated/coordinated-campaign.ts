import type { PendingHold } from "@tenure/contracts";
import { JoinedSignal, type Timer } from "@tenure/kernel";
import { toTenureError } from "../errors.ts";
import { type ClientContext, stopSignal } from "../instance/client-context.ts";
import { claimTerms, type PlannedClaim } from "../term/claim-terms.ts";
import { isWorthHolding } from "../term/granted-hold.ts";
import { HeldTerm } from "../term/held-term.ts";
import { releaseTerm } from "../term/release-term.ts";
import { returned } from "../term/term-end.ts";
import { Candidacy } from "./candidacy.ts";
import { type CoordinatedOptions, planCandidacy } from "./coordinated-options.ts";

/**
 * One term after the other, each by a coordinator's choice: registers a candidate of the holder's name, accepts when it
 * is chosen, and withdraws when stopped, before its last term is given back, so that nobody waits for it. It claims by
 * itself only what the store lets it: when no coordinator has acted for the lease's fallback delay, or when the strategy
 * leaves the lease to whoever is first.
 */
export async function* coordinatedCampaign(
  context: ClientContext,
  plan: PlannedClaim,
  options: CoordinatedOptions,
  signal: AbortSignal | undefined,
): AsyncGenerator<HeldTerm, void, undefined> {
  const [lease] = plan.leases;
  if (lease === undefined) return;
  const candidacyPlan = planCandidacy(options, plan.timing, plan.request.claimant.participant);
  const stop = stopSignal(context, signal);
  if (stop.aborted) return;
  await using candidacy = new Candidacy(context, lease, plan.request.claimant.holder, candidacyPlan);
  context.emit?.({ kind: "campaigning", lease });
  await candidacy.start(stop);
  for (;;) {
    const term = await winTerm(context, plan, candidacy, stop);
    if (term === undefined) return;
    const onStop = (): void => {
      void candidacy.withdraw();
      term.stop(stop.reason);
    };
    stop.addEventListener("abort", onStop, { once: true });
    let isGoingOn = false;
    try {
      if (stop.aborted) return;
      yield term;
      isGoingOn = true;
    } finally {
      if (!isGoingOn) await candidacy.withdraw();
      await term.release();
      stop.removeEventListener("abort", onStop);
    }
  }
}

/** Waits for a choice, and in the queue for what the store leaves to candidates. Undefined when stopped. */
async function winTerm(
  context: ClientContext,
  plan: PlannedClaim,
  candidacy: Candidacy,
  stop: AbortSignal,
): Promise<HeldTerm | undefined> {
  let claim: FallbackClaim | undefined;
  let delayMs = candidacy.isFirstCome ? 0 : plan.timing.requestTimeoutMs;
  try {
    while (!stop.aborted) {
      const choice = candidacy.takeChoice();
      if (choice !== undefined) {
        const term = await accept(context, plan, candidacy, choice, stop);
        if (term !== undefined) return term;
        continue;
      }
      if (candidacy.mayClaim && claim === undefined) {
        claim = new FallbackClaim(context, plan, candidacy, stop, delayMs);
        delayMs = 0;
      }
      const won = await Promise.race([candidacy.news(), ...(claim === undefined ? [] : [claim.outcome])]);
      if (won === undefined) continue;
      claim = undefined;
      if (won.term !== undefined) return won.term;
    }
    return undefined;
  } finally {
    claim?.abandon();
  }
}

/** Begins the term that the candidate was chosen for; undefined when that came too late or was taken back. */
async function accept(
  context: ClientContext,
  plan: PlannedClaim,
  candidacy: Candidacy,
  { token }: PendingHold,
  stop: AbortSignal,
): Promise<HeldTerm | undefined> {
  const { session } = context;
  const [lease] = plan.leases;
  if (lease === undefined) return undefined;
  try {
    const { claimant } = plan.request;
    const timeoutMs = plan.timing.requestTimeoutMs;
    const granted = await session.accept({ candidate: candidacy.key, token, claimant }, { signal: stop, timeoutMs });
    const { metricsName, onOverrun, timing } = plan;
    if (isWorthHolding(granted, timing, session.clock.now())) {
      return new HeldTerm(context, granted, { timing, onOverrun, metricsName: metricsName(lease), told: "soon" });
    }
    await releaseTerm(context, { lease, token }, returned, timing);
  } catch (thrown) {
    const error = toTenureError(thrown);
    if (!stop.aborted) context.emit?.({ kind: "claim-failed", lease, error, retryInMs: 0 });
    candidacy.refresh();
  }
  return undefined;
}

/**
 * A claim that stands in the queue until the store leaves the lease to candidates, or it is abandoned. It begins after a
 * delay, in which nearly every election is over, and which then costs no claim that has to be taken back.
 */
class FallbackClaim {
  readonly outcome: Promise<{ readonly term: HeldTerm | undefined }>;
  readonly #abandoned = new AbortController();
  #timer: Timer | undefined;
  readonly #context: ClientContext;
  readonly #plan: PlannedClaim;
  readonly #candidacy: Candidacy;

  constructor(context: ClientContext, plan: PlannedClaim, candidacy: Candidacy, stop: AbortSignal, delayMs: number) {
    this.#context = context;
    this.#plan = plan;
    this.#candidacy = candidacy;
    this.outcome = new Promise((resolve) => {
      const begin = () => resolve(this.#claim(stop));
      if (delayMs === 0) begin();
      else this.#timer = context.session.clock.schedule(delayMs, begin);
    });
  }

  /** Leaves the queue; what was granted all the same is given back. */
  abandon(): void {
    this.#timer?.cancel();
    this.#abandoned.abort();
    void this.outcome.then(({ term }) => term?.release());
  }

  async #claim(stop: AbortSignal): Promise<{ readonly term: HeldTerm | undefined }> {
    using ending = new JoinedSignal([stop, this.#abandoned.signal]);
    const { signal } = ending;
    const request = { ...this.#plan.request, fallbackCandidate: this.#candidacy.key.name };
    try {
      const terms = await claimTerms(this.#context, { ...this.#plan, request }, { signal, waitMs: "forever" });
      return { term: terms?.[0] };
    } catch (thrown) {
      if (!signal.aborted) await this.#pause(toTenureError(thrown), signal);
      return { term: undefined };
    }
  }

  async #pause(error: ReturnType<typeof toTenureError>, signal: AbortSignal): Promise<void> {
    const { emit, session } = this.#context;
    const { leases, timing } = this.#plan;
    const retryInMs = timing.renewIntervalMs * (1 + session.random.next());
    for (const lease of leases) emit?.({ kind: "claim-failed", lease, error, retryInMs });
    if (error.reason === "CANDIDATE_NOT_FOUND") this.#candidacy.refresh();
    await session.clock.sleep(retryInMs, signal).catch(() => undefined);
  }
}
