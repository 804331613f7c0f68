import { type Candidate, ChangeKind, type Lease, type Transition } from "@tenure/contracts";
import {
  type CandidateRecord,
  type Event,
  existingLease,
  type LeaseKey,
  type LeaseRecord,
  type PartitionState,
  type Transition as TransitionLine,
} from "@tenure/core";
import type { AppliedBatch } from "../replica/partition-replica.ts";

/** One change of one lease, as watchers see it. */
export interface LeaseChange {
  readonly kind: ChangeKind;
  readonly key: LeaseKey;
  readonly record: Lease;
  /** The lines of history that the change wrote. */
  readonly transitions: readonly Transition[];
}

/** One change of one candidate, as watchers see it. */
export interface CandidateChange {
  readonly kind: ChangeKind;
  readonly key: LeaseKey;
  readonly name: string;
  readonly record: Candidate;
  /** What selectors are matched with, as it was right after the change; undefined when it is gone. */
  readonly matched?: { readonly record: LeaseRecord; readonly candidate: CandidateRecord };
}

/** What one batch changed. */
export interface ChangeSet {
  readonly partition: number;
  readonly sequence: bigint;
  readonly leases: readonly LeaseChange[];
  readonly candidates: readonly CandidateChange[];
  /** Records of which only the renewal revision grew; empty unless somebody wants them. */
  readonly renewedLeases: readonly LeaseChange[];
  readonly renewedCandidates: readonly CandidateChange[];
}

/** How records are shown. */
export interface Renderer {
  lease(record: LeaseRecord, state: PartitionState): Lease;
  candidate(candidate: CandidateRecord, record: LeaseRecord): Candidate;
  /** All that is known of a candidate that is gone. */
  goneCandidate(key: LeaseKey, name: string): Candidate;
  transition(line: TransitionLine): Transition;
}

/** How many records a change set names, which is what keeping it costs. */
export function sizeOfChanges({ candidates, leases }: ChangeSet): number {
  return candidates.length + leases.length;
}

/** What a batch changed, each record once, as it is after the batch. Called right after the batch was applied. */
export function changesOf(applied: AppliedBatch, render: Renderer, wantsRenewals: boolean): ChangeSet {
  const { events, partition, sequence, state } = applied;
  const touched = touchedBy(events);
  const leases: LeaseChange[] = [];
  const renewedLeases: LeaseChange[] = [];
  for (const [key, existedBefore] of touched.leases) {
    const change = leaseChange(state, key, existedBefore, sequence, render);
    if (change?.kind === ChangeKind.RENEWED) renewedLeases.push(change);
    else if (change !== undefined) leases.push(change);
  }
  const candidates: CandidateChange[] = [];
  const renewedCandidates: CandidateChange[] = [];
  for (const [key, names] of touched.candidates) {
    for (const name of names) {
      const change = candidateChange(state, key, name, sequence, render);
      (change.kind === ChangeKind.RENEWED ? renewedCandidates : candidates).push(change);
    }
  }
  if (wantsRenewals) renewedLeases.push(...renewals(events, state, touched.leases, render));
  return { partition, sequence, leases, candidates, renewedLeases, renewedCandidates };
}

interface Touched {
  /** Each lease with whether it existed before the batch; undefined: as it does now. */
  readonly leases: Map<LeaseKey, boolean | undefined>;
  readonly candidates: Map<LeaseKey, Set<string>>;
}

function touchedBy(events: readonly Event[]): Touched {
  const leases = new Map<LeaseKey, boolean | undefined>();
  const candidates = new Map<LeaseKey, Set<string>>();
  for (const event of events) {
    if (!("lease" in event) || event.kind === "guardChanged") continue;
    const names = candidateNames(event);
    if (names !== undefined) {
      const known = candidates.get(event.lease) ?? new Set();
      for (const name of names) known.add(name);
      candidates.set(event.lease, known);
      continue;
    }
    const before = existedBefore(event);
    if (before !== undefined && leases.get(event.lease) === undefined) leases.set(event.lease, before);
    else if (!leases.has(event.lease)) leases.set(event.lease, undefined);
  }
  return { leases, candidates };
}

function candidateNames(event: Event): readonly string[] | undefined {
  switch (event.kind) {
    case "candidatePut":
    case "candidateRenewed":
    case "candidateAnswered":
    case "candidateRemoved":
    case "candidateCooledDown":
      return [event.candidate];
    case "candidatesPinged":
      return event.questions.map(({ candidate }) => candidate);
    default:
      return undefined;
  }
}

function existedBefore(event: Event): boolean | undefined {
  if (event.kind === "leaseCreated" || event.kind === "leaseRestored") return false;
  return event.kind === "leaseDeleted" && event.isRemoved ? true : undefined;
}

function leaseChange(
  state: PartitionState,
  key: LeaseKey,
  before: boolean | undefined,
  sequence: bigint,
  render: Renderer,
): LeaseChange | undefined {
  const record = state.leases.get(key);
  if (record === undefined) return undefined;
  const existsNow = existingLease(state, key) !== undefined;
  const existed = before ?? existsNow;
  if (!existed && !existsNow) return undefined;
  const kind = !existed
    ? ChangeKind.ADDED
    : !existsNow
      ? ChangeKind.REMOVED
      : record.revision.sequence === sequence
        ? ChangeKind.CHANGED
        : ChangeKind.RENEWED;
  const transitions = record.history
    .filter(({ position }) => position.sequence === sequence)
    .map((line) => render.transition(line));
  return { kind, key, record: render.lease(record, state), transitions };
}

function candidateChange(
  state: PartitionState,
  key: LeaseKey,
  name: string,
  sequence: bigint,
  render: Renderer,
): CandidateChange {
  const record = state.leases.get(key);
  const candidate = record?.candidates?.get(name);
  if (record === undefined || candidate === undefined) {
    return { kind: ChangeKind.REMOVED, key, name, record: render.goneCandidate(key, name) };
  }
  const isNew = candidate.registered.sequence === sequence;
  const isChanged = candidate.revision.sequence === sequence || candidate.ping?.pinged.sequence === sequence;
  const kind = isNew ? ChangeKind.ADDED : isChanged ? ChangeKind.CHANGED : ChangeKind.RENEWED;
  return { kind, key, name, record: render.candidate(candidate, record), matched: { record, candidate } };
}

/** The leases whose terms were renewed, each once. */
function renewals(
  events: readonly Event[],
  state: PartitionState,
  touched: ReadonlyMap<LeaseKey, unknown>,
  render: Renderer,
): readonly LeaseChange[] {
  const records = new Set<LeaseRecord>();
  for (const event of events) {
    if (event.kind !== "renewed") continue;
    for (const holdId of event.holdIds) {
      const record = state.holds.get(holdId)?.lease;
      if (record !== undefined && !touched.has(record.key)) records.add(record);
    }
  }
  return [...records].map((record) => ({
    kind: ChangeKind.RENEWED,
    key: record.key,
    record: render.lease(record, state),
    transitions: [],
  }));
}
