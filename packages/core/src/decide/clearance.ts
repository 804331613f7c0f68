import { isCoordinated } from "../coordination.ts";
import { mayExpire } from "../expiry-guard.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { Claim } from "../partition/command.ts";
import type { Obstacle, Refusal } from "../partition/reply.ts";
import type { Hold, Participant } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { defaultLeaseSpec, type LeaseSpec } from "../record/lease-spec.ts";
import { remainingMs } from "../record/position.ts";
import { checkEligible } from "./eligible.ts";
import { mustWaitForNextBatch } from "./number.ts";
import { isLapsed, judgeHolds, retryAfterMs } from "./overdue.ts";

/** What someone wants to do with a lease. */
export interface Wish {
  readonly claim: Claim;
  readonly participant: Participant | undefined;
  /** A coordinator's choice need not wait for a coordinator. */
  readonly isElection: boolean;
}

/** Nothing stands in the way of a new term, once what is over has been ended in the same step. */
export interface Clearance {
  readonly kind: "clear";
  /** Terms that ran out. */
  readonly ending: readonly Hold[];
  /** A choice lapsed. */
  readonly isLapsing: boolean;
  /** The name has no lease: it is created. */
  readonly isCreating: boolean;
  /** The spec that the new term lives by. */
  readonly spec: LeaseSpec;
}

/** After a restore no term begins before every earlier one has surely ended. */
export function checkRecovery({ state: { recovery } }: OwnedPartition, now: number): Refusal | undefined {
  if (recovery === undefined) return undefined;
  const leftMs = remainingMs(recovery.from, recovery.holdOffMs, now);
  return leftMs > 0 ? { kind: "recovering", retryAfterMs: leftMs } : undefined;
}

/** Whether a new term may begin, or what stands in its way. Every rule that can keep a grant back is asked here. */
export function clearWay(
  owned: OwnedPartition,
  record: LeaseRecord | undefined,
  wish: Wish,
  now: number,
): Clearance | Refusal | { readonly kind: "nextBatch" } {
  const recovering = checkRecovery(owned, now);
  if (recovering !== undefined) return recovering;
  const clearance = record === undefined ? clearNew(wish) : clearKnown(owned, record, wish, now);
  if (clearance.kind === "clear" && mustWaitForNextBatch(owned, record)) return { kind: "nextBatch" };
  return awaitsProbe(owned, clearance, now) ? { kind: "nextBatch" } : clearance;
}

/** What is in the way is overdue, and only the append of this batch is missing to say so (rule 17). */
function awaitsProbe({ guard }: OwnedPartition, clearance: Clearance | Refusal, now: number): boolean {
  if (clearance.kind !== "held" && clearance.kind !== "tombstone") return false;
  return clearance.retryAfterMs === 0 && mayExpire(guard, now).kind === "probeFirst";
}

function clearNew({ claim }: Wish): Clearance | Refusal {
  const spec = claim.spec ?? defaultLeaseSpec;
  return checkMode(claim, spec) ?? { kind: "clear", ending: [], isLapsing: false, isCreating: true, spec };
}

function clearKnown(owned: OwnedPartition, record: LeaseRecord, wish: Wish, now: number): Clearance | Refusal {
  const { ending, staying } = judgeHolds(owned, record, now);
  const isGone = record.created === undefined || (record.deletion !== undefined && staying.length === 0);
  const spec = isGone ? (wish.claim.spec ?? defaultLeaseSpec) : record.spec;
  const refusal =
    checkEligible(record, wish.participant) ??
    checkMode(wish.claim, spec) ??
    checkHolds(owned, record, staying, wish.claim, spec, now) ??
    checkLockDelay(record, ending, now) ??
    checkPending(record, now) ??
    (wish.isElection ? undefined : checkCoordination(record, spec, ending, now));
  return refusal ?? { kind: "clear", ending, isLapsing: record.pending !== undefined, isCreating: isGone, spec };
}

function checkMode({ lease, mode, units }: Claim, spec: LeaseSpec): Refusal | undefined {
  if ((mode === "counted") !== (spec.mode === "counted")) {
    return { kind: "holdModeMismatch", lease, mode: spec.mode, wanted: mode };
  }
  const most = mode === "counted" ? spec.capacity : 1;
  if (Number.isSafeInteger(units) && units >= 1 && units <= most) return undefined;
  return { kind: "invalid", violations: [{ field: "units", rule: `must be 1 to ${most}`, value: String(units) }] };
}

function checkHolds(
  owned: OwnedPartition,
  record: LeaseRecord,
  staying: readonly Hold[],
  claim: Claim,
  spec: LeaseSpec,
  now: number,
): Refusal | undefined {
  const limit = owned.state.settings.limits.holdsPerLease;
  if (staying.length === 0 && limit > 0) return undefined;
  const blocking = staying.filter((hold) => record.deletion !== undefined || excludes(hold, claim, staying, spec));
  const [first] = blocking;
  if (first === undefined) {
    return staying.length >= limit ? { kind: "limitExceeded", limit: "holdsPerLease", value: limit } : undefined;
  }
  const lease = record.key;
  const waits = blocking.map((hold) => retryAfterMs(owned, hold, now));
  const isTombstone = record.deletion !== undefined || blocking.some((hold) => hold.revocation !== undefined);
  if (isTombstone) return { kind: "tombstone", lease, token: record.lastToken, retryAfterMs: Math.max(...waits) };
  return { kind: "held", lease, holder: first.holder, token: first.token, retryAfterMs: Math.min(...waits) };
}

function excludes(hold: Hold, { mode, units }: Claim, staying: readonly Hold[], { capacity }: LeaseSpec): boolean {
  if (mode === "counted") return staying.reduce((sum, { units: used }) => sum + used, units) > capacity;
  return mode === "exclusive" || hold.mode === "exclusive";
}

function checkLockDelay(record: LeaseRecord, ending: readonly Hold[], now: number): Obstacle | undefined {
  const runningMs =
    record.lockDelay === undefined ? 0 : remainingMs(record.lockDelay.from, record.lockDelay.delayMs, now);
  const waitMs = ending.length === 0 ? runningMs : Math.max(runningMs, ...ending.map((hold) => hold.lockDelayMs));
  return waitMs > 0 ? { kind: "lockDelay", lease: record.key, retryAfterMs: waitMs } : undefined;
}

function checkPending(record: LeaseRecord, now: number): Obstacle | undefined {
  const { key: lease, pending } = record;
  if (pending === undefined || isLapsed(record, now)) return undefined;
  const waitMs = remainingMs(pending.from, pending.acceptWindowMs, now);
  return { kind: "held", lease, holder: pending.candidate, token: pending.token, retryAfterMs: waitMs };
}

function checkCoordination(
  record: LeaseRecord,
  { fallbackDelayMs }: LeaseSpec,
  ending: readonly Hold[],
  now: number,
): Obstacle | undefined {
  if (!isCoordinated(record, now)) return undefined;
  if (fallbackDelayMs === undefined) return { kind: "coordinated", lease: record.key, retryAfterMs: undefined };
  // What ends or lapses only by this decision makes the lease free only now.
  const isJustEnding = ending.length > 0 || record.pending !== undefined;
  const leftMs = isJustEnding ? fallbackDelayMs : remainingMs(record.freeSince, fallbackDelayMs, now);
  return leftMs > 0 ? { kind: "coordinated", lease: record.key, retryAfterMs: leftMs } : undefined;
}
