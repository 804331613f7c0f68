import type { CandidateRecord } from "../record/candidate.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { Position } from "../record/position.ts";

/** Every position that a record points to; many appear more than once, and what the record does not have is undefined. */
export function positionsOf(record: LeaseRecord): readonly (Position | undefined)[] {
  const positions = [
    record.created,
    record.revision,
    record.freeSince,
    record.pending?.from,
    record.lockDelay?.from,
    record.strategy?.set,
    record.conflict?.since,
    record.endOfTerm?.marked,
    record.migration?.revision,
  ];
  for (const { granted, renewal } of record.holds) positions.push(granted, renewal);
  for (const { position } of record.history) positions.push(position);
  for (const { revision } of record.decisions ?? []) positions.push(revision);
  for (const { revision } of record.guarded?.values() ?? []) positions.push(revision);
  for (const candidate of record.candidates?.values() ?? []) positions.push(...ofCandidate(candidate));
  return positions;
}

function ofCandidate(candidate: CandidateRecord): readonly (Position | undefined)[] {
  const { coolDown, cordon, ping, priority, registered, renewal, revision } = candidate;
  return [registered, revision, renewal, priority?.set, cordon?.set, ping?.pinged, ping?.answered, coolDown?.from];
}
