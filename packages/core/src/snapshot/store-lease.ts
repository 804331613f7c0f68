import type { CandidateRecord } from "../record/candidate.ts";
import type { GuardedValue } from "../record/guarded.ts";
import type { Hold } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { Transition } from "../record/transition.ts";
import { byKey, type Place } from "./order.ts";
import type { StoredCandidate, StoredHold, StoredLease, StoredLine } from "./types.ts";

/** What most leases have none of, once for all of them. */
const none: readonly never[] = Object.freeze([]);

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
    candidates: record.candidates === undefined ? none : storeCandidates(record.candidates, place),
    guarded: record.guarded === undefined ? none : storeGuarded(record.guarded, place),
    history: record.history.map((line) => storeLine(line, place)),
    isHistoryTruncated: record.isHistoryTruncated,
    decisions: record.decisions?.map((decision) => ({ ...decision, revision: place(decision.revision) })) ?? none,
  };
}

/** Field by field, because there are more of them than of anything else. */
function storeLine({ author, cause, details, holder, kind, position, token }: Transition, place: Place): StoredLine {
  return { kind, holder, token, author, cause, details, position: place(position) };
}

function storeGuarded(guarded: ReadonlyMap<string, GuardedValue>, place: Place): StoredLease["guarded"] {
  return Array.from(guarded, ([key, { holder, revision, token, value }]) => {
    return { key, value, revision: place(revision), token, holder };
  }).sort(byKey);
}

function storeCandidates(candidates: ReadonlyMap<string, CandidateRecord>, place: Place): readonly StoredCandidate[] {
  return Array.from(candidates, ([key, candidate]) => ({ key, candidate }))
    .sort(byKey)
    .map(({ candidate }) => storeCandidate(candidate, place));
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
