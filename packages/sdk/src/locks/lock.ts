import { JoinedSignal } from "@tenure/kernel";
import { isTenureError } from "../errors.ts";
import { type ClientContext, refuseIfClosed } from "../instance/client-context.ts";
import type { ClaimOptions, Granted } from "../session/session.ts";
import {
  beginOrGiveBack,
  beginTerms,
  claimGrants,
  giveBack,
  type PlannedClaim,
  planClaim,
} from "../term/claim-terms.ts";
import type { LeaseInput, LeaseName } from "../term/lease-name.ts";
import type { Term } from "../term/term.ts";
import { optionError, toMs } from "../timing/duration-input.ts";
import type { LockOptions } from "./lock-options.ts";
import { LockSet } from "./lock-set.ts";

/** A lock that is held: a term like a leader's, released when its block is left. */
export type Lock = Term;

/** Takes one lock. */
export async function takeLock(context: ClientContext, name: LeaseInput, options: LockOptions): Promise<Lock> {
  refuseIfClosed(context);
  const lock = planLock(context, [context.leaseName(name)], options);
  for (;;) {
    const granted = await claimLock(context, lock);
    const [term] = beginTerms(context, lock.plan, granted) ?? [];
    if (term !== undefined) return term;
    // A grant that came too late to be of use is given back: the caller still wants the lock.
    await giveBack(context, lock.plan, granted);
  }
}

/** Takes one lock without waiting; undefined if another has it. */
export async function tryLock(
  context: ClientContext,
  name: LeaseInput,
  options: Omit<LockOptions, "wait">,
): Promise<Lock | undefined> {
  try {
    return await takeLock(context, name, { ...options, wait: false });
  } catch (error) {
    if (isTenureError(error) && taken.has(error.reason)) return undefined;
    throw error;
  }
}

/** Takes several locks of one routing part, all or none. */
export async function takeLocks(
  context: ClientContext,
  names: readonly LeaseInput[],
  options: LockOptions,
): Promise<LockSet> {
  refuseIfClosed(context);
  if (names.length === 0) throw optionError("names", "must name at least one lock", "none");
  const leases = names.map((name) => context.leaseName(name));
  const lock = planLock(context, leases, options);
  for (;;) {
    const terms = await beginOrGiveBack(context, lock.plan, await claimLock(context, lock));
    if (terms !== undefined) return new LockSet(terms);
  }
}

interface PlannedLock {
  readonly plan: PlannedClaim;
  readonly options: ClaimOptions;
  /** The caller's own. */
  readonly signal: AbortSignal | undefined;
}

function planLock(context: ClientContext, leases: readonly LeaseName[], options: LockOptions): PlannedLock {
  const { mode = "exclusive", units, capacity, signal, timeout, wait = true } = options;
  return {
    plan: planClaim(context, leases, { mode, units, capacity }, options, lockParts),
    signal,
    options: {
      signal: context.closing,
      timeoutMs: timeout === undefined ? undefined : toMs(timeout, "timeout"),
      waitMs: waitOf(wait),
    },
  };
}

function claimLock(context: ClientContext, lock: PlannedLock): Promise<readonly Granted[]> {
  const { options, plan, signal } = lock;
  if (signal !== undefined) return claimUntil(context, lock, [signal, context.closing]);
  context.closing.throwIfAborted();
  return claimGrants(context, plan, options);
}

async function claimUntil(
  context: ClientContext,
  { options, plan }: PlannedLock,
  signals: readonly AbortSignal[],
): Promise<readonly Granted[]> {
  using either = new JoinedSignal(signals);
  const { signal } = either;
  signal.throwIfAborted();
  return await claimGrants(context, plan, { ...options, signal });
}

/** Locks have many names: they are counted by namespace, so that metrics stay few. Few last. */
const lockParts = { metricsName: ({ namespace }: LeaseName) => `${namespace}/*`, told: "later" } as const;

/** What says that somebody else has, or may still be acting on, the lock. */
const taken: ReadonlySet<string> = new Set(["LEASE_HELD", "WAIT_ENDED", "LOCK_DELAY", "TOMBSTONE"]);

function waitOf(wait: boolean | number | string): number | "forever" {
  if (typeof wait === "boolean") return wait ? "forever" : 0;
  return toMs(wait, "wait");
}
