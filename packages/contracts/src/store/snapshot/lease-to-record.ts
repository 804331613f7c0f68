import type { StoredLease } from "@tenure/core";
import type { SnapshotLease } from "../../gen/tenure/log/v1/snapshot_record.ts";
import { TermEndReason } from "../../gen/tenure/v1/hold.ts";
import { eligibilityToWire } from "../value/eligibility.ts";
import { termEndReasons } from "../value/enums.ts";
import { endOfTermToWire, pendingToWire } from "../value/hold.ts";
import { strategyConflictToWire, strategySettingToWire } from "../value/strategy.ts";
import { optionalDurationToWire } from "../value/time.ts";
import { candidateRecordToWire } from "./candidate-record.ts";
import { lineToWire } from "./history-line.ts";
import { holdRecordToWire } from "./hold-record.ts";
import { placeOf } from "./place.ts";

/** All that is kept under one lease name, in a snapshot. */
export function leaseToRecord(lease: StoredLease, specPlace: number): SnapshotLease {
  const { conflict, deletion, endOfTerm, lastEndReason, lockDelay, migration, pending, strategy } = lease;
  return {
    key: lease.key,
    created: placeOf(lease.created),
    uid: BigInt(lease.uid),
    revision: lease.revision + 1,
    spec: specPlace,
    holds: lease.holds.map(holdRecordToWire),
    pending: pending && pendingToWire(pending),
    pendingFrom: placeOf(pending?.from),
    lastToken: lease.lastToken,
    transitions: lease.transitions,
    lastEndReason: lastEndReason === undefined ? TermEndReason.UNSPECIFIED : termEndReasons.toWire[lastEndReason],
    freeSince: lease.freeSince + 1,
    lockDelayFrom: placeOf(lockDelay?.from),
    lockDelay: optionalDurationToWire(lockDelay?.delayMs),
    deletion: deletion === undefined ? TermEndReason.UNSPECIFIED : termEndReasons.toWire[deletion.endReason],
    deletionAuthor: deletion?.author ?? "",
    deletionReason: deletion?.reason ?? "",
    strategy: strategy && strategySettingToWire(strategy),
    strategySet: placeOf(strategy?.set),
    conflict: conflict && strategyConflictToWire(conflict),
    conflictSince: placeOf(conflict?.since),
    preferredHolder: lease.preferredHolder,
    endOfTerm: endOfTerm && endOfTermToWire(endOfTerm),
    endOfTermMarked: placeOf(endOfTerm?.marked),
    endOfTermCoolDown: optionalDurationToWire(endOfTerm?.coolDownMs),
    eligibility: eligibilityToWire(lease.eligibility),
    encodedConfiguration: migration?.configuration,
    configurationRevision: placeOf(migration?.revision),
    candidates: lease.candidates.map(candidateRecordToWire),
    guarded: lease.guarded.map(({ holder, key, revision, token, value }) => {
      return { key, value, revision: revision + 1, token, holder };
    }),
    history: lease.history.map(lineToWire),
    historyTruncated: lease.isHistoryTruncated,
    decisions: lease.decisions.map(({ body, id, revision }) => {
      return { decisionId: id, encodedDecision: body, revision: revision + 1 };
    }),
  };
}
