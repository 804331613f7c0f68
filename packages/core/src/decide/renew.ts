import { policyFor } from "../identity/policy.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal, RenewalResult } from "../partition/reply.ts";
import type { Hold } from "../record/hold.ts";
import { checkLeaseDuration, checkLonger } from "../timing.ts";
import { caused, type Decision, nothing } from "./decision.ts";
import { isDrained, isEnding } from "./overdue.ts";
import { type Credentials, checkHolder, missingHold } from "./permission.ts";

/**
 * Why a running term may not be renewed by these credentials; undefined when it may. A term that is overdue and has
 * not been ended in the log is still its holder's: nobody else can have been granted anything.
 */
export function checkRenewal(hold: Hold, credentials: Credentials, now: number): Refusal | undefined {
  const refusal = checkHolder(hold, credentials);
  if (refusal !== undefined) return refusal;
  const { lease: record, revocation, token } = hold;
  const lease = record.key;
  if (revocation !== undefined) return { kind: "revoked", lease, token, reason: revocation.reason };
  if (record.deletion?.endReason === "collected")
    return { kind: "revoked", lease, token, reason: record.deletion.reason };
  if (!isDrained(record, hold, now)) return undefined;
  return { kind: "endOfTerm", lease, token, successor: record.preferredHolder };
}

/** What a committed renewal answers. */
function renewed(hold: Hold, sendNumber: bigint): RenewalResult {
  return { kind: "renewed", sendNumber, isEnding: isEnding(hold.lease, hold), successor: hold.lease.preferredHolder };
}

/** Renews terms by lease and token, each on its own. */
export function decideRenew(owned: OwnedPartition, command: CommandOf<"renew">, now: number): Decision {
  const events: Event[] = [];
  const results = command.items.map((item): RenewalResult => {
    const hold = owned.state.leases.get(item.lease)?.holdWith(item.token);
    if (hold === undefined) return missingHold(owned.state, item.lease, item.token);
    const refusal = checkRenewal(hold, command, now) ?? checkDuration(owned, hold, item.leaseDurationMs);
    if (refusal !== undefined) return refusal;
    events.push(...renewalEvents(owned, command, hold, item.sendNumber, item.leaseDurationMs));
    return renewed(hold, item.sendNumber);
  });
  const hasRenewed = results.some(({ kind }) => kind === "renewed");
  return { events, reply: { kind: "renewals", results, position: hasRenewed ? owned.batch.position : undefined } };
}

/**
 * L of a running term only grows: a shorter one would count from the commit on, while a holder whom the answer does not
 * reach acts by the longer one. It comes with the next term.
 */
function checkDuration(
  { state }: OwnedPartition,
  hold: Hold,
  leaseDurationMs: number | undefined,
): Refusal | undefined {
  if (leaseDurationMs === undefined) return undefined;
  const violations = [
    ...checkLeaseDuration(leaseDurationMs, policyFor(hold.lease.key, state.settings.policy)),
    ...checkLonger(leaseDurationMs, hold.leaseDurationMs),
  ];
  return violations.length > 0 ? { kind: "timingUnsafe", lease: hold.lease.key, violations } : undefined;
}

function renewalEvents(
  owned: OwnedPartition,
  command: CommandOf<"renew">,
  hold: Hold,
  sendNumber: bigint,
  leaseDurationMs: number | undefined,
): readonly Event[] {
  const events: Event[] = [];
  const lease = hold.lease.key;
  if (hold.lease.deletion !== undefined) events.push(caused(command, { kind: "leaseRestored", lease }));
  if (leaseDurationMs !== undefined && leaseDurationMs !== hold.leaseDurationMs) {
    events.push(caused(command, { kind: "holdChanged", lease, holdId: hold.id, leaseDurationMs }));
  } else if (hold.renewal !== owned.batch.position) {
    events.push(caused(command, { kind: "renewed", holdIds: [hold.id], sendNumber }));
  }
  return events;
}

/** Renewals of one client in packed form: hold ids of this partition, all sent under one number. */
export interface PackedRenewal extends Credentials {
  readonly holdIds: readonly number[];
  readonly sendNumber: bigint;
}

/** What became of packed renewals. Holds that are neither refused nor ending were simply renewed. */
export interface PackedResult {
  readonly events: readonly Event[];
  /** Renewed, in the order asked. */
  readonly renewed: readonly number[];
  /** Those of the renewed that are asked to finish. */
  readonly ending: readonly { readonly holdId: number; readonly successor: string }[];
  readonly refused: readonly { readonly holdId: number; readonly refusal: Refusal }[];
  /** What the next batch must be asked for: so many leases come back from their deletion that this one would grow too large. */
  readonly rest: readonly number[];
}

/** Leases that one decision brings back from their deletion; each takes an event of its own. */
export const restoredAtOnce = 512;

/**
 * Renews many terms at once: one lookup each, and one event for all. A term that was granted or renewed in this batch
 * already is acknowledged without a second mention, so the order of renewals and other events does not matter.
 */
export function decidePackedRenewal(owned: OwnedPartition, request: PackedRenewal, now: number): PackedResult {
  const holds = owned.state.holds.getEach(request.holdIds);
  if (!arePlain(holds) || !holds.every((hold) => checkHolder(hold, request) === undefined)) {
    return renewEach(owned, request, holds, now);
  }
  const { holdIds } = request;
  return {
    events: freshRenewals(owned, request, holds),
    renewed: holdIds,
    ending: nothing,
    refused: nothing,
    rest: nothing,
  };
}

/**
 * Whether these terms all run and nothing but credentials can stand against their renewal. A loop of its own, so short
 * that the processor fetches many terms and leases from memory at once.
 */
function arePlain(holds: readonly (Hold | undefined)[]): holds is readonly Hold[] {
  for (const hold of holds) {
    if (hold === undefined || hold.revocation !== undefined) return false;
    if (hold.lease.deletion !== undefined || hold.lease.endOfTerm !== undefined) return false;
  }
  return true;
}

/** Renews terms of which some may be over, refused, ending or deleted. */
function renewEach(
  owned: OwnedPartition,
  request: PackedRenewal,
  holds: readonly (Hold | undefined)[],
  now: number,
): PackedResult {
  const header = { principal: request.principal };
  const renewed: Hold[] = [];
  const ending: PackedResult["ending"][number][] = [];
  const refused: PackedResult["refused"][number][] = [];
  const events: Event[] = [];
  let rest: readonly number[] = nothing;
  for (const [index, hold] of holds.entries()) {
    if (events.length === restoredAtOnce) {
      rest = request.holdIds.slice(index);
      break;
    }
    const refusal = hold === undefined ? unknownHold : checkRenewal(hold, request, now);
    if (hold === undefined || refusal !== undefined) {
      refused.push({ holdId: request.holdIds[index] ?? 0, refusal: refusal ?? unknownHold });
      continue;
    }
    const { lease } = hold;
    if (lease.deletion !== undefined) events.push(caused(header, { kind: "leaseRestored", lease: lease.key }));
    if (isEnding(lease, hold)) ending.push({ holdId: hold.id, successor: lease.preferredHolder });
    renewed.push(hold);
  }
  events.push(...freshRenewals(owned, request, renewed));
  return { events, renewed: renewed.map(({ id }) => id), ending, refused, rest };
}

/** What the log has yet to say of terms that were renewed. */
function freshRenewals(
  { batch }: OwnedPartition,
  { holdIds, principal, sendNumber }: PackedRenewal,
  renewed: readonly Hold[],
): readonly Event[] {
  // The first of a batch need not ask every term when it was renewed last, which waits for memory.
  const isAll = batch.events.length === 0 && renewed.length === holdIds.length;
  const fresh = isAll ? holdIds : renewed.filter(({ renewal }) => renewal !== batch.position).map(({ id }) => id);
  return fresh.length === 0 ? nothing : [caused({ principal }, { kind: "renewed", holdIds: fresh, sendNumber })];
}

/** A hold id names its term for ever, so one that is not running is over; its lease is no longer known from it. */
const unknownHold: Refusal = Object.freeze({ kind: "termExpired", lease: "", token: 0n });
