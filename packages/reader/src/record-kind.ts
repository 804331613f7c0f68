import {
  CandidateEvent,
  type CandidateSelector,
  type ChangeKind,
  candidateSelections,
  candidateToWire,
  LeaseEvent,
  type LeaseSelector,
  leaseSelections,
  leaseToWire,
  transitionToWire,
} from "@tenure/contracts";
import { copyOfCandidate, copyOfLease, type LeaseKey, type LeaseRecord } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { type Change, type ChangeSet, isExisting, type SeenCandidate } from "./change-set.ts";
import type { PastState } from "./past-state.ts";
import type { WatchSubject } from "./resume-token.ts";

/** Which records a caller asks for. */
export interface Selection<Seen> {
  /** Only these leases, or candidates of them, can match; undefined if others can. */
  readonly leases: readonly LeaseKey[] | undefined;
  matches(seen: Seen): boolean;
}

/** Where and when a record is shown. */
export interface Showing {
  readonly partition: number;
  readonly nowMs: number;
  /** Log position of the change. */
  readonly revision: bigint;
  readonly lines: Change<unknown>["lines"];
}

/** A kind of record that can be watched: what leases and candidates have in common. */
export interface RecordKind<Seen, Selector> {
  readonly subject: WatchSubject;
  /** What the selectors of a watch ask for; INVALID_ARGUMENT when they make no sense. */
  select(selectors: readonly Selector[]): Selection<Seen>;
  changes(set: ChangeSet): readonly Change<Seen>[];
  renewals(set: ChangeSet): readonly Change<Seen>[];
  /** The records of a partition that exist. */
  present(past: PastState, leases: readonly LeaseKey[] | undefined): Iterable<Seen>;
  /** A record that later batches do not change. */
  copy(seen: Seen): Seen;
  /** The bytes of one event of a watch. */
  encodeEvent(kind: ChangeKind, seen: Seen, showing: Showing): Uint8Array;
}

/** Leases. */
export const leaseRecords: RecordKind<LeaseRecord, LeaseSelector> = {
  subject: "leases",
  select(selectors) {
    const { matches, names } = unwrap(leaseSelections(selectors));
    return { leases: names, matches };
  },
  changes: ({ leases }) => leases,
  renewals: ({ renewedLeases }) => renewedLeases,
  *present(past, leases) {
    for (const record of past.leases(leases)) if (isExisting(record)) yield record;
  },
  copy: copyOfLease,
  encodeEvent(kind, record, { lines, nowMs, partition, revision }) {
    const lease = leaseToWire(record, { partition, now: nowMs });
    return LeaseEvent.encode({ kind, lease, revision, transitions: lines.map(transitionToWire) }).finish();
  },
};

/** Candidates. */
export const candidateRecords: RecordKind<SeenCandidate, CandidateSelector> = {
  subject: "candidates",
  select(selectors) {
    const { leases, matches } = unwrap(candidateSelections(selectors));
    return { leases, matches: ({ candidate, lease }) => matches(lease, candidate) };
  },
  changes: ({ candidates }) => candidates,
  renewals: ({ renewedCandidates }) => renewedCandidates,
  present: (past, leases) => past.candidates(leases),
  copy: ({ candidate, lease: { key, spec } }) => ({ lease: { key, spec }, candidate: copyOfCandidate(candidate) }),
  encodeEvent(kind, { candidate: record, lease }, { nowMs, revision }) {
    const candidate = candidateToWire(lease.key, record, nowMs);
    return CandidateEvent.encode({ kind, candidate, revision }).finish();
  },
};

/** A value, or the thrown fault that stands in its place. */
export function unwrap<Value>(value: Value | Fault): Value {
  if (value instanceof Fault) throw value;
  return value;
}
