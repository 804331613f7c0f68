import { namespaceOf } from "../key.ts";
import { emptyPartition, intern, type PartitionState } from "../partition/state.ts";
import type { CandidateRecord } from "../record/candidate.ts";
import { Hold } from "../record/hold.ts";
import { LeaseRecord } from "../record/lease.ts";
import { shareSpec } from "../record/lease-spec.ts";
import type { Position } from "../record/position.ts";
import type { Transition } from "../record/transition.ts";
import { finish, recordsPerStep, type Steps } from "../steps.ts";
import type {
  PartitionSnapshot,
  PositionIndex,
  StoredCandidate,
  StoredHold,
  StoredLease,
  StoredLine,
} from "./types.ts";

type At = (index: PositionIndex) => Position;

/**
 * The state of a snapshot, loaded at the instant `now` on this replica's clock. Every duration of a rule runs from the
 * load: nobody is judged by a time that this replica did not see (I8).
 */
export function loadSnapshot(snapshot: PartitionSnapshot, now: number): PartitionState {
  return finish(loadSnapshotInSteps(snapshot, now));
}

/** As {@link loadSnapshot}, in steps. */
export function* loadSnapshotInSteps(snapshot: PartitionSnapshot, now: number): Steps<PartitionState> {
  const positions = snapshot.positions.map(({ sequence, wallMs }): Position => ({ sequence, wallMs, seenAtMs: now }));
  const at: At = (index) => {
    const position = positions[index];
    if (position === undefined) throw new Error(`snapshot ${snapshot.sequence} has no position ${index}`);
    return position;
  };
  const { recovery } = snapshot;
  const state: PartitionState = {
    ...emptyPartition(snapshot.partition, now),
    epoch: snapshot.epoch,
    owner: snapshot.owner,
    successor: snapshot.successor,
    owesPause: snapshot.owesPause,
    epochStart: at(snapshot.epochStart),
    lastSequence: snapshot.sequence,
    lastBatchId: snapshot.batchId,
    nextId: snapshot.nextId,
    settings: snapshot.settings,
    recovery: recovery && { from: at(recovery.from), holdOffMs: recovery.holdOffMs },
    snapshot: snapshot.snapshot,
  };
  let count = 0;
  for (const stored of snapshot.leases) {
    loadLease(state, stored, at);
    count += 1;
    if (count % recordsPerStep === 0) yield;
  }
  for (const { client, floor, outcomes } of snapshot.clients) {
    const loaded = outcomes.map(({ digest, number, outcome, position }) => ({
      number,
      digest,
      outcome: { ...outcome, position: position === undefined ? undefined : at(position) },
    }));
    state.clients.set(client, { floor, outcomes: loaded });
  }
  for (const { client, floor } of snapshot.retiredClients) state.retiredClients.set(client, floor);
  return state;
}

function loadLease(state: PartitionState, stored: StoredLease, at: At): void {
  const record = new LeaseRecord(stored.key, at(stored.revision));
  loadMarks(record, stored, at);
  record.created = stored.created === undefined ? undefined : at(stored.created);
  record.uid = stored.uid;
  record.spec = shareSpec(stored.spec);
  record.lastToken = stored.lastToken;
  record.transitions = stored.transitions;
  record.lastEndReason = stored.lastEndReason;
  record.freeSince = at(stored.freeSince);
  record.history = stored.history.map((line) => loadLine(state, line, at));
  record.isHistoryTruncated = stored.isHistoryTruncated;
  if (stored.candidates.length > 0) {
    record.candidates = new Map(stored.candidates.map((candidate) => [candidate.name, loadCandidate(candidate, at)]));
  }
  if (stored.guarded.length > 0) {
    record.guarded = new Map(
      stored.guarded.map(({ key, revision, ...value }) => [key, { ...value, revision: at(revision) }]),
    );
  }
  if (stored.decisions.length > 0) {
    record.decisions = stored.decisions.map((decision) => ({ ...decision, revision: at(decision.revision) }));
  }
  if (stored.holds.length > 0) record.holds = stored.holds.map((hold) => loadHold(state, record, hold, at));
  for (const hold of record.holds) state.holds.add(hold);
  state.leases.set(record.key, record);
  if (record.created === undefined) return;
  const namespace = namespaceOf(record.key);
  state.namespaces.set(namespace, (state.namespaces.get(namespace) ?? 0) + 1);
}

function loadMarks(record: LeaseRecord, stored: StoredLease, at: At): void {
  const { conflict, endOfTerm, lockDelay, migration, pending, strategy } = stored;
  record.preferredHolder = stored.preferredHolder;
  // Assigned only where there is something: an idle lease does without the rest.
  if (pending !== undefined) record.pending = { ...pending, from: at(pending.from) };
  if (lockDelay !== undefined) record.lockDelay = { ...lockDelay, from: at(lockDelay.from) };
  if (stored.deletion !== undefined) record.deletion = stored.deletion;
  if (strategy !== undefined) record.strategy = { ...strategy, set: at(strategy.set) };
  if (conflict !== undefined) record.conflict = { ...conflict, since: at(conflict.since) };
  if (endOfTerm !== undefined) record.endOfTerm = { ...endOfTerm, marked: at(endOfTerm.marked) };
  if (stored.eligibility !== undefined) record.eligibility = stored.eligibility;
  if (migration !== undefined) record.migration = { ...migration, revision: at(migration.revision) };
}

function loadLine(state: PartitionState, stored: StoredLine, at: At): Transition {
  const { cause, details, kind, token } = stored;
  const holder = intern(state, stored.holder);
  const author = intern(state, stored.author);
  const position = at(stored.position);
  if (details === undefined) return { position, kind, holder, token, author, cause };
  return { position, kind, holder, token, author, cause, details };
}

function loadHold(state: PartitionState, lease: LeaseRecord, stored: StoredHold, at: At): Hold {
  const hold = new Hold(lease, stored, at(stored.granted), at(stored.renewal), intern(state, stored.holder));
  if (stored.revocation !== undefined) hold.revocation = stored.revocation;
  return hold;
}

function loadCandidate(stored: StoredCandidate, at: At): CandidateRecord {
  const { coolDown, cordon, ping, priority } = stored;
  return {
    name: stored.name,
    uid: stored.uid,
    principal: stored.principal,
    registered: at(stored.registered),
    revision: at(stored.revision),
    renewal: at(stored.renewal),
    spec: stored.spec,
    priority: priority && { ...priority, set: at(priority.set) },
    cordon: cordon && { ...cordon, set: at(cordon.set) },
    ping: ping && {
      ...ping,
      pinged: at(ping.pinged),
      answered: ping.answered === undefined ? undefined : at(ping.answered),
    },
    coolDown: coolDown && { ...coolDown, from: at(coolDown.from) },
    missedAccepts: stored.missedAccepts,
  };
}
