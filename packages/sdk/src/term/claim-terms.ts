import { Claimant, durationFromMs, HoldMode, LeaseClaim } from "@tenure/contracts";
import { bytesOf } from "../guard/term-guard.ts";
import type { ClientContext } from "../instance/client-context.ts";
import type { ClaimOptions, ClaimRequest, Granted } from "../session/session.ts";
import { resolveTiming } from "../timing/check-timing.ts";
import type { TermTiming, TimingOptions } from "../timing/term-timing.ts";
import { HeldTerm, isWorthHolding } from "./held-term.ts";
import type { HoldOptions } from "./hold-options.ts";
import { type LeaseName, showLease } from "./lease-name.ts";
import { releaseTerm } from "./release-term.ts";
import type { HoldingMode } from "./term.ts";
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

/** How the leases of a claim are held. */
export interface ClaimShape {
  readonly mode: HoldingMode;
  /** Units of a counted claim. */
  readonly units?: number | undefined;
  /** Units of the lease, if the claim creates it. */
  readonly capacity?: number | undefined;
}

/** Checks the options and builds the request. Throws INVALID_ARGUMENT before anything is sent. */
export function planClaim(
  context: ClientContext,
  leases: readonly LeaseName[],
  shape: ClaimShape,
  options: HoldOptions,
): PlannedClaim {
  const timing = timingOf(context, options);
  const claims = leases.map((lease) =>
    LeaseClaim.fromPartial({
      lease,
      mode: modes[shape.mode],
      units: shape.units ?? 1,
      spec: specOf(shape, timing),
    }),
  );
  const claimant = Claimant.fromPartial({
    holder: options.holder ?? context.holder,
    holderKey: options.holderKey ?? "",
    identity: context.identityId?.() ?? "",
    value: bytesOf(options.value ?? ""),
    timing: {
      leaseDuration: durationFromMs(timing.leaseDurationMs),
      usableTerm: durationFromMs(timing.usableTermMs),
      renewInterval: durationFromMs(timing.renewIntervalMs),
      requestTimeout: durationFromMs(timing.requestTimeoutMs),
    },
    ...(options.participant === undefined ? {} : { participant: options.participant }),
  });
  return {
    leases,
    request: { claims, claimant },
    timing,
    onOverrun: options.onOverrun ?? "exit",
    metricsName: showLease,
    told: "soon",
  };
}

/**
 * Claims once. Undefined when the grant came so late that its function could not even start: it was given back. Rejects
 * as the session does.
 */
export async function claimTerms(
  context: ClientContext,
  plan: PlannedClaim,
  options: ClaimOptions,
): Promise<readonly HeldTerm[] | undefined> {
  const attributes = { "tenure.lease": plan.leases.map(showLease).join(" ") };
  const span = context.tracer?.start("tenure.claim", attributes);
  try {
    const granted = await context.session.claim(plan.request, options);
    span?.end();
    return await beginTerms(context, plan, granted);
  } catch (error) {
    span?.end(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

/** Begins the terms that were granted. Undefined when they came too late: then they are given back. */
export async function beginTerms(
  context: ClientContext,
  plan: PlannedClaim,
  granted: readonly Granted[],
): Promise<readonly HeldTerm[] | undefined> {
  const { timing, onOverrun, metricsName, leases, told } = plan;
  const nowMs = context.session.clock.now();
  if (!granted.every((one) => isWorthHolding(one, timing, nowMs))) {
    await Promise.all(granted.map((one, index) => giveBack(context, plan, one, index)));
    return undefined;
  }
  return granted.map((one, index) => {
    const lease = leases[index] ?? { namespace: "", name: "" };
    return new HeldTerm(context, one, { timing, onOverrun, metricsName: metricsName(lease), told });
  });
}

async function giveBack(context: ClientContext, plan: PlannedClaim, { grant }: Granted, index: number): Promise<void> {
  const lease = plan.leases[index];
  const token = grant.hold?.token;
  if (lease !== undefined && token !== undefined) await releaseTerm(context, { lease, token }, returned, plan.timing);
}

/** What a claim that creates its lease gives it. */
function specOf({ mode, capacity }: ClaimShape, { lockDelayMs }: TermTiming) {
  return {
    mode: modes[mode],
    ...(mode === "counted" ? { capacity: capacity ?? 1 } : {}),
    ...(lockDelayMs > 0 ? { lockDelay: durationFromMs(lockDelayMs) } : {}),
  };
}

const modes: Readonly<Record<HoldingMode, HoldMode>> = {
  exclusive: HoldMode.EXCLUSIVE,
  shared: HoldMode.SHARED,
  counted: HoldMode.COUNTED,
};

const timingNames = [
  "leaseDuration",
  "usableTerm",
  "renewInterval",
  "requestTimeout",
  "drain",
  "stopTimeout",
  "lockDelay",
] as const satisfies readonly (keyof TimingOptions)[];

/** The timing of each client's claims that say nothing of it: nearly all, so it is worked out once. */
const clientTimings = new WeakMap<ClientContext, TermTiming>();

/** An option that is given as undefined takes the client's default, as one that is not given does. */
function timingOf(context: ClientContext, options: HoldOptions): TermTiming {
  const given = timingNames.filter((name) => options[name] !== undefined);
  const known = given.length === 0 ? clientTimings.get(context) : undefined;
  if (known !== undefined) return known;
  const own = Object.fromEntries(given.map((name) => [name, options[name]]));
  const timing = resolveTiming({ ...context.timing, ...own }, context.policy);
  if (given.length === 0) clientTimings.set(context, timing);
  return timing;
}
