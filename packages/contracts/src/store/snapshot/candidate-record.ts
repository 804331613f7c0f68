import type { StoredCandidate } from "@tenure/core";
import type { SnapshotCandidate } from "../../gen/tenure/log/v1/snapshot_record.ts";
import { CandidateSpec, type Ping } from "../../gen/tenure/v1/candidate_record.ts";
import type { Reading } from "../reading.ts";
import {
  candidateSpecFromWire,
  candidateSpecToWire,
  cordonFromWire,
  cordonToWire,
  priorityFromWire,
  priorityToWire,
} from "../value/candidate-spec.ts";
import { shareText } from "../value/text.ts";
import { durationFromWire, optionalDurationToWire } from "../value/time.ts";
import { indexOf, placeOf } from "./place.ts";

/** A candidate in a snapshot. */
export function candidateRecordToWire(candidate: StoredCandidate): SnapshotCandidate {
  const { coolDown, cordon, ping, priority } = candidate;
  return {
    name: candidate.name,
    uid: BigInt(candidate.uid),
    principal: candidate.principal,
    registered: candidate.registered + 1,
    revision: candidate.revision + 1,
    renewal: candidate.renewal + 1,
    spec: candidateSpecToWire(candidate.spec),
    priority: priority && priorityToWire(priority),
    prioritySet: placeOf(priority?.set),
    cordon: cordon && cordonToWire(cordon),
    cordonSet: placeOf(cordon?.set),
    ping: ping && pingToWire(ping),
    pinged: placeOf(ping?.pinged),
    answered: placeOf(ping?.answered),
    coolDownFrom: placeOf(coolDown?.from),
    coolDown: optionalDurationToWire(coolDown?.coolDownMs),
    missedAccepts: candidate.missedAccepts,
  };
}

function pingToWire({ answeredNumber, number }: NonNullable<StoredCandidate["ping"]>): Ping {
  return { number, answeredNumber, pingedAt: undefined, answeredAt: undefined };
}

/** A candidate from a snapshot. */
export function candidateRecordFromWire(reading: Reading, record: SnapshotCandidate): StoredCandidate {
  const { cordon, ping, priority, spec } = record;
  if (spec === undefined) reading.reject("candidate.spec", "is required", "absent");
  const coolDownMs = durationFromWire(reading, "candidate.cool_down", record.coolDown, 0);
  const coolDownFrom = indexOf(record.coolDownFrom);
  return {
    name: record.name,
    uid: Number(record.uid),
    principal: shareText(record.principal),
    registered: record.registered - 1,
    revision: record.revision - 1,
    renewal: record.renewal - 1,
    spec: candidateSpecFromWire(reading, "candidate.spec", spec ?? CandidateSpec.create()),
    priority: priority && {
      ...priorityFromWire(reading, "candidate.priority", priority),
      set: record.prioritySet - 1,
    },
    cordon: cordon && { ...cordonFromWire(reading, "candidate.cordon", cordon), set: record.cordonSet - 1 },
    ping: ping && {
      number: ping.number,
      answeredNumber: ping.answeredNumber,
      pinged: record.pinged - 1,
      answered: indexOf(record.answered),
    },
    coolDown: coolDownFrom === undefined ? undefined : { from: coolDownFrom, coolDownMs },
    missedAccepts: record.missedAccepts,
  };
}
