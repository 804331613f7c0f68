import type { CandidateRecord } from "../record/candidate.ts";
import type { Hold } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { byKey, type Place } from "./order.ts";
import type { StoredCandidate, StoredHold, StoredLease } from "./types.ts";

/** All that is kept under one lease name, as plain data. */
export function storeLease(record: LeaseRecord, place: Place): StoredLease {
  const { conflict, created, endOfTerm, lockDelay, migration, pending, strategy } = record;
  return {
    key: record.key,
    created: created && place(created),
    uid: record.uid,
    revision: place(record.revision),
    spec: record.spec,
    holds: record.holds.map((hold) => storeHold(hold, place)),
    pending: pending && { ...pending, from: place(pending.from) },
    lastToken: record.lastToken,
    transitions: record.transitions,
    lastEndReason: record.lastEndReason,
    freeSince: place(record.freeSince),
    lockDelay: lockDelay && { ...lockDelay, from: place(lockDelay.from) },
    deletion: record.deletion,
    strategy: strategy && { ...strategy, set: place(strategy.set) },
    conflict: conflict && { ...conflict, since: place(conflict.since) },
    preferredHolder: record.preferredHolder,
    endOfTerm: endOfTerm && { ...endOfTerm, marked: place(endOfTerm.marked) },
    eligibility: record.eligibility,
    migration: migration && { ...migration, revision: place(migration.revision) },
    candidates: [...(record.candidates?.entries() ?? [])]
      .map(([key, candidate]) => ({ key, candidate }))
      .sort(byKey)
      .map(({ candidate }) => storeCandidate(candidate, place)),
    guarded: [...(record.guarded?.entries() ?? [])]
      .map(([key, { holder, revision, token, value }]) => ({ key, value, revision: place(revision), token, holder }))
      .sort(byKey),
    history: record.history.map(({ details, position, ...line }) => ({ ...line, details, position: place(position) })),
    isHistoryTruncated: record.isHistoryTruncated,
    decisions: (record.decisions ?? []).map((decision) => ({ ...decision, revision: place(decision.revision) })),
  };
}

function storeHold(hold: Hold, place: Place): StoredHold {
  const { details } = hold;
  return {
    id: hold.id,
    token: hold.token,
    holder: hold.holder,
    holderKey: hold.holderKey,
    principal: hold.principal,
    mode: hold.mode,
    units: hold.units,
    origin: hold.origin,
    leaseDurationMs: hold.leaseDurationMs,
    lockDelayMs: hold.lockDelayMs,
    ...(details === undefined ? undefined : { details }),
    revocation: hold.revocation,
    granted: place(hold.granted),
    renewal: place(hold.renewal),
  };
}

function storeCandidate(candidate: CandidateRecord, place: Place): StoredCandidate {
  const { coolDown, cordon, ping, priority, registered, renewal, revision, ...plain } = candidate;
  return {
    ...plain,
    registered: place(registered),
    revision: place(revision),
    renewal: place(renewal),
    priority: priority && { ...priority, set: place(priority.set) },
    cordon: cordon && { ...cordon, set: place(cordon.set) },
    ping: ping && { ...ping, pinged: place(ping.pinged), answered: ping.answered && place(ping.answered) },
    coolDown: coolDown && { ...coolDown, from: place(coolDown.from) },
  };
}
