import { isTenureError } from "../errors.ts";
import type { ClientContext } from "../instance/client-context.ts";
import { claimTerms, planClaim } from "../term/claim-terms.ts";
import type { HeldTerm } from "../term/held-term.ts";
import type { LeaseName } from "../term/lease-name.ts";
import type { Term } from "../term/term.ts";
import { optionError, toMs } from "../timing/duration-input.ts";
import type { LockOptions } from "./lock-options.ts";
import { LockSet } from "./lock-set.ts";

/** A lock that is held: a term like a leader's, released when its block is left. */
export type Lock = Term;

/** Takes one lock. */
export async function takeLock(context: ClientContext, lease: LeaseName, options: LockOptions): Promise<Lock> {
  const [term] = await take(context, [lease], options);
  if (term === undefined) throw noGrant();
  return term;
}

/** Takes one lock without waiting; undefined if another has it. */
export async function tryLock(
  context: ClientContext,
  lease: LeaseName,
  options: Omit<LockOptions, "wait">,
): Promise<Lock | undefined> {
  try {
    return await takeLock(context, lease, { ...options, wait: false });
  } catch (error) {
    if (isTenureError(error) && taken.has(error.reason)) return undefined;
    throw error;
  }
}

/** Takes several locks of one routing part, all or none. */
export async function takeLocks(
  context: ClientContext,
  leases: readonly LeaseName[],
  options: LockOptions,
): Promise<LockSet> {
  if (leases.length === 0) throw optionError("names", "must name at least one lock", "none");
  return new LockSet(await take(context, leases, options));
}

async function take(
  context: ClientContext,
  leases: readonly LeaseName[],
  options: LockOptions,
): Promise<readonly HeldTerm[]> {
  const { mode = "exclusive", units, capacity } = options;
  const plan = planClaim(context, leases, { mode, units, capacity }, options);
  const signal = options.signal === undefined ? context.closing : AbortSignal.any([options.signal, context.closing]);
  // Locks have many names: they are counted by namespace, so that metrics stay few.
  const counted = { ...plan, metricsName: ({ namespace }: LeaseName) => `${namespace}/*`, told: "later" as const };
  const timeoutMs = options.timeout === undefined ? undefined : toMs(options.timeout, "timeout");
  const claim = { signal, timeoutMs, waitMs: waitOf(options.wait ?? true) };
  for (;;) {
    signal.throwIfAborted();
    const terms = await claimTerms(context, counted, claim);
    // A grant that came too late to be of use was given back: the caller still wants the lock.
    if (terms !== undefined) return terms;
  }
}

/** What says that somebody else has, or may still be acting on, the lock. */
const taken: ReadonlySet<string> = new Set([
  "LEASE_HELD",
  "WAIT_ENDED",
  "LOCK_DELAY",
  "TOMBSTONE",
  "HOLD_MODE_MISMATCH",
]);

function waitOf(wait: boolean | number | string): number | "forever" {
  if (typeof wait === "boolean") return wait ? "forever" : 0;
  return toMs(wait, "wait");
}

function noGrant(): Error {
  return optionError("names", "must name at least one lock", "none");
}
