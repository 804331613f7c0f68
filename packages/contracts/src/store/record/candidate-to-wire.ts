import {
  type CandidateRecord,
  type LeaseKey as CoreLeaseKey,
  elapsedMs,
  isCandidateValid,
  priorityOf,
  remainingMs,
} from "@tenure/core";
import type { Duration } from "../../gen/google/protobuf/duration.ts";
import { type Candidate, CandidateStatus, type Ping } from "../../gen/tenure/v1/candidate_record.ts";
import { candidateSpecToWire, cordonToWire, priorityToWire } from "../value/candidate-spec.ts";
import { candidateKeyToWire, uidToWire } from "../value/key.ts";
import { durationToWire } from "../value/time.ts";
import { timeOf } from "./wall-time.ts";

/** How long a candidate has to answer a ping before it counts as silent: the election's own bound. */
export const answerBoundMs = 5_000;

/** A candidate as the API shows it, at the replica's monotonic `now`. */
export function candidateToWire(lease: CoreLeaseKey, candidate: CandidateRecord, now: number): Candidate {
  const { cordon, ping, priority, registered, renewal, revision } = candidate;
  return {
    key: candidateKeyToWire(lease, candidate.name),
    uid: uidToWire(candidate.uid),
    revision: revision.sequence,
    renewalRevision: renewal.sequence,
    registeredAt: timeOf(registered),
    renewedAt: timeOf(renewal),
    spec: candidateSpecToWire(candidate.spec),
    priority:
      priority && priorityOf(candidate, now) !== undefined ? priorityToWire(priority, timeOf(priority.set)) : undefined,
    cordon: cordon && isLasting(cordon, now) ? cordonToWire(cordon, timeOf(cordon.set)) : undefined,
    ping: ping && pingToWire(ping),
    status: statusOf(candidate, now),
    principal: candidate.principal,
    coolDown: coolDownOf(candidate, now),
    registeredRevision: registered.sequence,
  };
}

function isLasting({ expiresAfterMs, set }: NonNullable<CandidateRecord["cordon"]>, now: number): boolean {
  return expiresAfterMs === undefined || elapsedMs(set, now) < expiresAfterMs;
}

function pingToWire({ answered, answeredNumber, number, pinged }: NonNullable<CandidateRecord["ping"]>): Ping {
  return { number, answeredNumber, pingedAt: timeOf(pinged), answeredAt: answered && timeOf(answered) };
}

/** How the server sees a candidate, as far as the log tells: beats on a live stream are not in it. */
export function statusOf(candidate: CandidateRecord, now: number): CandidateStatus {
  if (!isCandidateValid(candidate, now)) return CandidateStatus.EXPIRED;
  const { ping } = candidate;
  if (ping === undefined) return CandidateStatus.REGISTERED;
  if (ping.answeredNumber >= ping.number) return CandidateStatus.LIVE;
  return elapsedMs(ping.pinged, now) < answerBoundMs ? CandidateStatus.PINGED : CandidateStatus.SILENT;
}

function coolDownOf({ coolDown }: CandidateRecord, now: number): Duration | undefined {
  if (coolDown === undefined) return undefined;
  const leftMs = remainingMs(coolDown.from, coolDown.coolDownMs, now);
  return leftMs > 0 ? durationToWire(Math.ceil(leftMs)) : undefined;
}
