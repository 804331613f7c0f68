import type { CandidateEvent } from "../partition/event.ts";
import { ensureRecord, type PartitionState } from "../partition/state.ts";
import type { CandidateRecord, Cordon, Priority } from "../record/candidate.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { Position } from "../record/position.ts";

/** Applies a fact about candidates. Their lease's revision stays. */
export function applyCandidate(state: PartitionState, event: CandidateEvent, position: Position): void {
  const record = ensureRecord(state, event.lease, position);
  if (event.kind === "candidatePut") {
    put(state, record, event, position);
    return;
  }
  if (event.kind === "candidatesPinged") {
    for (const { candidate, pingNumber } of event.questions)
      ask(record.candidates?.get(candidate), pingNumber, position);
    return;
  }
  const candidate = record.candidates?.get(event.candidate);
  if (candidate === undefined) return;
  switch (event.kind) {
    case "candidateRenewed":
      candidate.renewal = position;
      return;
    case "candidateAnswered":
      candidate.renewal = position;
      if (candidate.ping !== undefined) {
        candidate.ping = { ...candidate.ping, answeredNumber: event.pingNumber, answered: position };
      }
      return;
    case "candidateRemoved":
      record.candidates?.delete(event.candidate);
      if (record.candidates?.size === 0) record.candidates = undefined;
      return;
    case "candidateCooledDown":
      candidate.coolDown = { from: position, coolDownMs: event.coolDownMs };
      if (event.hasMissedAccept) candidate.missedAccepts++;
      return;
  }
}

type Put = Extract<CandidateEvent, { readonly kind: "candidatePut" }>;

function put(state: PartitionState, record: LeaseRecord, event: Put, position: Position): void {
  const { candidate: name, cordon, principal, priority, spec, uid } = event;
  record.candidates ??= new Map();
  const known = record.candidates.get(name);
  state.nextId = Math.max(state.nextId, uid + 1);
  if (known?.uid === uid) {
    known.revision = position;
    known.spec = spec;
    known.priority = priority && { ...priority, set: sincePriority(known, priority, position) };
    known.cordon = cordon && { ...cordon, set: sinceCordon(known, cordon, position) };
    return;
  }
  record.candidates.set(name, {
    name,
    uid,
    principal,
    registered: position,
    revision: position,
    renewal: position,
    spec,
    priority: priority && { ...priority, set: position },
    cordon: cordon && { ...cordon, set: position },
    ping: undefined,
    coolDown: undefined,
    missedAccepts: 0,
  });
}

/** A priority that is the same as before keeps its age, so that renewing a candidate does not extend it. */
function sincePriority({ priority: known }: CandidateRecord, priority: Priority, position: Position): Position {
  const isSame =
    known?.value === priority.value &&
    known.expiresAfterMs === priority.expiresAfterMs &&
    known.author === priority.author &&
    known.reason === priority.reason;
  return known !== undefined && isSame ? known.set : position;
}

function sinceCordon({ cordon: known }: CandidateRecord, cordon: Cordon, position: Position): Position {
  const isSame =
    known?.expiresAfterMs === cordon.expiresAfterMs &&
    known?.author === cordon.author &&
    known.reason === cordon.reason;
  return known !== undefined && isSame ? known.set : position;
}

function ask(candidate: CandidateRecord | undefined, number: bigint, position: Position): void {
  if (candidate === undefined) return;
  const { answered, answeredNumber = 0n } = candidate.ping ?? {};
  candidate.ping = { number, answeredNumber, pinged: position, answered };
}
