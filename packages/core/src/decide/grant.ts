import { policyFor } from "../identity/policy.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { Claim, Claimant, CommandHeader } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal } from "../partition/reply.ts";
import type { HoldDetails, HoldFacts, HoldOrigin } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { LeaseSpec } from "../record/lease-spec.ts";
import { checkLeaseDuration, checkTiming, type Timing, type TimingPolicy, type TimingViolation } from "../timing.ts";
import type { Clearance } from "./clearance.ts";
import { checkCreate } from "./creation.ts";
import { caused, nothing, timed } from "./decision.ts";
import { endByTime, lapsePending } from "./end.ts";
import type { Allotment } from "./number.ts";

/** Why a claimant may not begin a term under a spec; undefined when it may. */
export function checkClaimant(
  { state: { settings } }: OwnedPartition,
  lease: string,
  claimant: Claimant,
  spec: LeaseSpec,
): Refusal | undefined {
  const { holder, holderKey = "", timing, value } = claimant;
  if (holder === "" || holder.length > 253 || holderKey.length > 253) {
    const rule = "must be 1 to 253 bytes, and its key at most 253";
    return {
      kind: "invalid",
      violations: [{ field: "claimant.holder", rule, value: JSON.stringify(holder.slice(0, 80)) }],
    };
  }
  const mostBytes = settings.limits.holdValueBytes;
  if (value !== undefined && value.length > mostBytes) {
    return { kind: "limitExceeded", limit: "holdValueBytes", value: mostBytes };
  }
  const policy = policyFor(lease, settings.policy);
  const found =
    timing === undefined
      ? checkLeaseDuration(spec.leaseDurationMs, policy)
      : findViolations(timing, spec.lockDelayMs, policy);
  if (found.length === 0) return undefined;
  const violations = found.filter(({ isRefused }) => isRefused);
  return violations.length > 0 ? { kind: "timingUnsafe", lease, violations } : undefined;
}

/** What the timing breaks that was last looked at: a client claims again and again with the same. */
let lastFound:
  | {
      readonly timing: Timing;
      readonly lockDelayMs: number;
      readonly policy: TimingPolicy;
      readonly violations: readonly TimingViolation[];
    }
  | undefined;

function findViolations(timing: Timing, lockDelayMs: number, policy: TimingPolicy): readonly TimingViolation[] {
  if (lastFound?.timing !== timing || lastFound.lockDelayMs !== lockDelayMs || lastFound.policy !== policy) {
    lastFound = { timing, lockDelayMs, policy, violations: checkTiming(timing, lockDelayMs, policy) };
  }
  return lastFound.violations;
}

/** A term that is about to begin. */
export interface NewTerm {
  readonly claim: Claim;
  readonly claimant: Claimant;
  readonly origin: HoldOrigin;
  readonly token: bigint;
  readonly details?: HoldDetails;
  /** L, where neither the claimant's timing nor the spec says it. */
  readonly leaseDurationMs?: number;
}

/** The facts that begin a term: what is over ends first, and a missing lease is created. */
export function grantEvents(
  owned: OwnedPartition,
  command: CommandHeader,
  record: LeaseRecord | undefined,
  clearance: Clearance,
  term: NewTerm,
  allotment: Allotment,
  now: number,
): readonly Event[] | Refusal {
  const { lease } = term.claim;
  const { isCreating, spec } = clearance;
  const before: readonly Event[] = record === undefined ? nothing : clearingEvents(record, clearance, now);
  const refusal = isCreating ? checkCreate(owned, lease, spec, allotment.created++) : undefined;
  if (refusal !== undefined) return refusal;
  const created = isCreating && caused(command, { kind: "leaseCreated", lease, uid: allotment.nextId(), spec });
  const transitions = record === undefined || isCreating ? 0 : record.transitions + 1;
  const hold = holdFacts(command, spec, term, allotment.nextId());
  const granted = caused(command, { kind: "holdGranted", lease, hold, transitions });
  // Mostly nothing comes before it.
  if (created === false) return before.length === 0 ? [granted] : [...before, granted];
  return [...before, created, granted];
}

/** The facts that end what is over on a lease before something new begins. */
export function clearingEvents(record: LeaseRecord, { ending, isLapsing }: Clearance, now: number): readonly Event[] {
  if (ending.length === 0 && !isLapsing) return nothing;
  const bodies = ending.flatMap((hold) => endByTime(record, hold, now));
  return [...(isLapsing ? lapsePending(record) : []), ...bodies].map(timed);
}

/** A value that is being made: copying one to add to it costs more than all the rest. */
type Growing<Made> = { -readonly [Key in keyof Made]: Made[Key] };

function holdFacts({ principal }: CommandHeader, spec: LeaseSpec, term: NewTerm, id: number): HoldFacts {
  const { claim, claimant, origin, token } = term;
  const details = detailsOf(term);
  const facts: Growing<HoldFacts> = {
    id,
    token,
    holder: claimant.holder,
    holderKey: claimant.holderKey ?? "",
    principal,
    mode: claim.mode,
    units: claim.units,
    origin,
    leaseDurationMs: claimant.timing?.leaseDurationMs ?? term.leaseDurationMs ?? spec.leaseDurationMs,
    lockDelayMs: spec.lockDelayMs,
  };
  if (details !== undefined) facts.details = details;
  return facts;
}

function detailsOf({ claimant, details }: NewTerm): HoldDetails | undefined {
  const { identity, participant, value, renewKeyHash } = claimant;
  const isPlain = identity === undefined && participant === undefined;
  if (isPlain && value === undefined && renewKeyHash === undefined) return details;
  const given: Growing<HoldDetails> = { ...details };
  if (identity !== undefined) given.identity = identity;
  if (participant !== undefined) given.participant = participant;
  if (value !== undefined) given.value = value;
  if (renewKeyHash !== undefined) given.renewKeyHash = renewKeyHash;
  return given;
}
