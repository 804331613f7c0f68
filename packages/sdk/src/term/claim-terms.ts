import type { ClientContext } from "../instance/client-context.ts";
import type { ClaimOptions, ClaimRequest, Granted } from "../session/session.ts";
import type { TermTiming } from "../timing/term-timing.ts";
import { type ClaimShape, claimFrame } from "./claim-frame.ts";
import { isWorthHolding } from "./granted-hold.ts";
import { HeldTerm } from "./held-term.ts";
import type { HoldOptions } from "./hold-options.ts";
import { type LeaseName, showLease } from "./lease-name.ts";
import { releaseTerm } from "./release-term.ts";
import { returned } from "./term-end.ts";

/** What is claimed and how it will be held, checked once and claimed as often as it takes. */
export interface PlannedClaim {
  readonly leases: readonly LeaseName[];
  readonly request: ClaimRequest;
  readonly timing: TermTiming;
  readonly onOverrun: "exit" | "signal-only";
  /** The name that metrics carry for each lease. */
  readonly metricsName: (lease: LeaseName) => string;
  /** When the thread that renews is told: of a leader's term soon, as its function may block; of a lock if it lasts. */
  readonly told: "soon" | "later";
}

/** Checks the options and builds the request. Throws INVALID_ARGUMENT before anything is sent. */
export function planClaim(
  context: ClientContext,
  leases: readonly LeaseName[],
  shape: ClaimShape,
  options: HoldOptions,
  { metricsName, told }: Pick<PlannedClaim, "metricsName" | "told"> = leaderParts,
): PlannedClaim {
  const { claimant, mode, onOverrun, spec, timing, units } = claimFrame(context, shape, options);
  const claims = leases.map((lease) => ({ lease, mode, units, spec }));
  return { leases, request: { claims, claimant }, timing, onOverrun, metricsName, told };
}

const leaderParts = { metricsName: showLease, told: "soon" } as const;

/**
 * Claims once. Undefined when the grant came so late that its function could not even start: it was given back. Rejects
 * as the session does.
 */
export async function claimTerms(
  context: ClientContext,
  plan: PlannedClaim,
  options: ClaimOptions,
): Promise<readonly HeldTerm[] | undefined> {
  return await beginOrGiveBack(context, plan, await claimGrants(context, plan, options));
}

/** Claims once: what was granted, of which no term has begun. */
export function claimGrants(
  context: ClientContext,
  plan: PlannedClaim,
  options: ClaimOptions,
): Promise<readonly Granted[]> {
  const claimed = context.session.claim(plan.request, options);
  if (context.tracer === undefined) return claimed;
  const span = context.tracer.start("tenure.claim", { "tenure.lease": plan.leases.map(showLease).join(" ") });
  claimed.then(
    () => span.end(),
    (error) => span.end(error instanceof Error ? error : new Error(String(error))),
  );
  return claimed;
}

/** Begins the terms that were granted. Undefined when they came too late, and were given back. */
export async function beginOrGiveBack(
  context: ClientContext,
  plan: PlannedClaim,
  granted: readonly Granted[],
): Promise<readonly HeldTerm[] | undefined> {
  const terms = beginTerms(context, plan, granted);
  if (terms === undefined) await giveBack(context, plan, granted);
  return terms;
}

/** Begins the terms that were granted. Undefined when they came too late, and are to be given back. */
export function beginTerms(
  context: ClientContext,
  plan: PlannedClaim,
  granted: readonly Granted[],
): readonly HeldTerm[] | undefined {
  const { timing, onOverrun, metricsName, leases, told } = plan;
  const nowMs = context.session.clock.now();
  if (!granted.every((one) => isWorthHolding(one, timing, nowMs))) return undefined;
  return granted.map((one, index) => {
    const lease = leases[index] ?? { namespace: "", name: "" };
    return new HeldTerm(context, one, { timing, onOverrun, metricsName: metricsName(lease), told });
  });
}

/** Gives back what came too late. */
export async function giveBack(
  context: ClientContext,
  { leases, timing }: PlannedClaim,
  granted: readonly Granted[],
): Promise<void> {
  const items = granted.flatMap(({ grant: { hold } }, index) => {
    const lease = leases[index];
    return lease === undefined || hold === undefined ? [] : [{ lease, token: hold.token }];
  });
  await Promise.all(items.map((item) => releaseTerm(context, item, returned, timing)));
}
