import type { LeaseKey } from "../key.ts";
import type { CandidateRecord } from "./candidate.ts";
import type { DecisionRecord, Eligibility, MigrationRecord } from "./eligibility.ts";
import type { GuardedValue } from "./guarded.ts";
import type { EndOfTerm, Hold, PendingHold, TermEndReason } from "./hold.ts";
import { defaultLeaseSpec, type LeaseSpec } from "./lease-spec.ts";
import type { Position } from "./position.ts";
import type { StrategyConflict, StrategySetting } from "./strategy.ts";
import type { Transition } from "./transition.ts";

/** Who deleted a lease whose term may still be acting, and why. */
export interface Deletion {
  readonly endReason: "deleted" | "collected";
  readonly author: string;
  readonly reason: string;
}

/**
 * All that a partition keeps under one lease name. It outlives the lease: after a deletion its last token, history,
 * candidates, eligibility and lock delay stay, so that no later term can have a lower token and no rule is lost by
 * deleting and creating again. Mutated only by `apply`.
 */
export interface LeaseRecord {
  readonly key: LeaseKey;
  /** When the lease was created; undefined while no lease of this name exists. */
  created: Position | undefined;
  /** Fresh for every creation of the name; 0 while it does not exist. */
  uid: number;
  /** The last change other than a renewal. */
  revision: Position;
  spec: LeaseSpec;
  /** The running terms in order of token; at most one if exclusive. */
  holds: readonly Hold[];
  pending?: (PendingHold & { readonly from: Position }) | undefined;
  /** The highest token ever given for this name. */
  lastToken: bigint;
  transitions: number;
  lastEndReason: TermEndReason | undefined;
  /** Since when nobody holds it and no choice is pending; what the fallback delay runs from. */
  freeSince: Position;
  /** Nothing is granted before this has passed: the lock delay of a term that ended without a release. */
  lockDelay?: { readonly from: Position; readonly delayMs: number } | undefined;
  /** Present while a deleted lease's term may still be acting. */
  deletion?: Deletion | undefined;
  strategy?: (StrategySetting & { readonly set: Position }) | undefined;
  conflict?: (StrategyConflict & { readonly since: Position }) | undefined;
  /** The named successor; empty if none. */
  preferredHolder: string;
  endOfTerm?: (EndOfTerm & { readonly marked: Position }) | undefined;
  eligibility?: Eligibility | undefined;
  migration?: MigrationRecord | undefined;
  candidates?: Map<string, CandidateRecord> | undefined;
  guarded?: Map<string, GuardedValue> | undefined;
  history: readonly Transition[];
  /** Whether older lines of history were dropped. */
  isHistoryTruncated: boolean;
  decisions?: readonly DecisionRecord[] | undefined;
}

const none: readonly never[] = Object.freeze([]);

/**
 * The record of a name of which nothing is known yet. What most leases never have is left out until it is there: a
 * hundred bytes for each idle lease.
 */
export function emptyLeaseRecord(key: LeaseKey, position: Position): LeaseRecord {
  return {
    key,
    created: undefined,
    uid: 0,
    revision: position,
    spec: defaultLeaseSpec,
    holds: none,
    lastToken: 0n,
    transitions: 0,
    lastEndReason: undefined,
    freeSince: position,
    preferredHolder: "",
    history: none,
    isHistoryTruncated: false,
  };
}

/**
 * The log position of the newest renewal of the running terms; 0 if there is none. A term's grant is not a renewal.
 * When a term ends the record's revision passes its renewals, so the larger of the two never goes back.
 */
export function renewalRevisionOf(record: LeaseRecord): bigint {
  let newest = 0n;
  for (const hold of record.holds) {
    if (hold.renewal !== hold.granted && hold.renewal.sequence > newest) newest = hold.renewal.sequence;
  }
  return newest;
}

/** What a compatible front shows as the record's version: the larger of revision and renewal revision (rule 6). */
export function shownRevisionOf(record: LeaseRecord): bigint {
  const renewal = renewalRevisionOf(record);
  return renewal > record.revision.sequence ? renewal : record.revision.sequence;
}
