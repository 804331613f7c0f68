import {
  type Hold as CoreHold,
  type LeaseState as CoreLeaseState,
  freeAfterMs,
  type LeaseRecord,
  leaseStateOf,
  renewalRevisionOf,
  type Waiters,
  waitersOf,
} from "@tenure/core";
import { type Hold, TermEndReason } from "../../gen/tenure/v1/hold.ts";
import { type Lease, LeaseState, type Tombstone } from "../../gen/tenure/v1/lease_record.ts";
import { eligibilityToWire } from "../value/eligibility.ts";
import { termEndReasons } from "../value/enums.ts";
import { endOfTermToWire, holdToWire, pendingToWire } from "../value/hold.ts";
import { leaseKeyToWire, uidToWire } from "../value/key.ts";
import { leaseSpecToWire } from "../value/lease-spec.ts";
import { strategyConflictToWire, strategySettingToWire } from "../value/strategy.ts";
import { durationToWire } from "../value/time.ts";
import { timeOf, writtenTimeOf } from "./wall-time.ts";

/** Who shows records, and when. */
export interface RecordView {
  readonly partition: number;
  /** The replica's monotonic ms. */
  readonly now: number;
  /** The owner's queues; undefined on followers, which do not know who waits nor when a grant is due. */
  readonly waiters?: Waiters;
}

const leaseStates: Readonly<Record<CoreLeaseState, LeaseState>> = {
  // What is kept under a deleted name is shown only as the last state of what was deleted.
  absent: LeaseState.FREE,
  free: LeaseState.FREE,
  held: LeaseState.HELD,
  pending: LeaseState.PENDING,
  ending: LeaseState.ENDING,
  lockDelay: LeaseState.LOCK_DELAY,
  tombstone: LeaseState.TOMBSTONE,
};

/** What a record says at a glance, on the wire. */
export function leaseStateToWire(record: LeaseRecord, now: number): LeaseState {
  return leaseStates[leaseStateOf(record, now)];
}

/** A lease as the API shows it. */
export function leaseToWire(record: LeaseRecord, view: RecordView): Lease {
  const { conflict, created, endOfTerm, lastEndReason, pending, strategy } = record;
  const { now, partition, waiters } = view;
  return {
    key: leaseKeyToWire(record.key),
    uid: uidToWire(record.uid),
    revision: record.revision.sequence,
    renewalRevision: renewalRevisionOf(record),
    createdAt: created && timeOf(created),
    spec: leaseSpecToWire(record.spec),
    state: leaseStateToWire(record, now),
    holds: record.holds.map((hold) => runningHoldToWire(hold, partition)),
    pending: pending && pendingToWire(pending, timeOf(pending.from)),
    lastToken: record.lastToken,
    transitions: record.transitions,
    strategy: strategy && strategySettingToWire(strategy, timeOf(strategy.set)),
    preferredHolder: record.preferredHolder,
    endOfTerm: endOfTerm && endOfTermToWire(endOfTerm, timeOf(endOfTerm.marked)),
    strategyConflict: conflict && strategyConflictToWire(conflict, timeOf(conflict.since)),
    eligibility: eligibilityToWire(record.eligibility),
    tombstone: tombstoneOf(record),
    freeAfter: waiters && durationToWire(Math.ceil(freeAfterMs(record, now))),
    waiters: waiters === undefined ? 0 : waitersOf(waiters, record.key),
    candidates: record.candidates?.size ?? 0,
    lastEndReason: lastEndReason === undefined ? TermEndReason.UNSPECIFIED : termEndReasons.toWire[lastEndReason],
  };
}

/** A running term as the API shows it; times that its client wrote stand in place of the log's. */
export function runningHoldToWire(hold: CoreHold, partition: number): Hold {
  const written = hold.details?.writtenTimes;
  return holdToWire(hold, partition, {
    acquiredAt: writtenTimeOf(written?.acquiredAtMicros, hold.granted),
    renewedAt: writtenTimeOf(written?.renewedAtMicros, hold.renewal),
  });
}

/** Why a lease refuses grants although nobody renews it; undefined if it does not. */
function tombstoneOf({ deletion, holds, lastToken }: LeaseRecord): Tombstone | undefined {
  if (deletion !== undefined) {
    const { author, endReason, reason: note } = deletion;
    return { token: lastToken, reason: termEndReasons.toWire[endReason], author, note };
  }
  const revoked = holds.find((hold) => hold.revocation !== undefined);
  if (revoked?.revocation === undefined) return undefined;
  const { author, endReason, reason: note } = revoked.revocation;
  return { token: revoked.token, reason: termEndReasons.toWire[endReason], author, note };
}
