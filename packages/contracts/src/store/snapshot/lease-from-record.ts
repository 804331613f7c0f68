import type { Deletion, LeaseSpec, StoredLease } from "@tenure/core";
import { defaultLeaseSpec } from "@tenure/core";
import type { SnapshotLease } from "../../gen/tenure/log/v1/snapshot_record.ts";
import { TermEndReason } from "../../gen/tenure/v1/hold.ts";
import type { Reading } from "../reading.ts";
import { eligibilityFromWire } from "../value/eligibility.ts";
import { termEndReasons, wordOf } from "../value/enums.ts";
import { endOfTermFromWire, pendingFromWire } from "../value/hold.ts";
import { strategyConflictFromWire, strategySettingFromWire } from "../value/strategy.ts";
import { ownBytes, shareText } from "../value/text.ts";
import { durationFromWire } from "../value/time.ts";
import { candidateRecordFromWire } from "./candidate-record.ts";
import { lineFromWire } from "./history-line.ts";
import { holdRecordFromWire } from "./hold-record.ts";
import { indexOf } from "./place.ts";

const none: readonly never[] = Object.freeze([]);

/** All that is kept under one lease name, from a snapshot whose specs are known. */
export function leaseFromRecord(reading: Reading, record: SnapshotLease, specs: readonly LeaseSpec[]): StoredLease {
  const { lastEndReason, lastToken, preferredHolder, transitions } = record;
  const holds = mapped(record.holds, (hold) => holdRecordFromWire(reading, hold));
  const holder = holds.at(-1)?.holder ?? "";
  return {
    key: record.key,
    created: indexOf(record.created),
    uid: Number(record.uid),
    revision: record.revision - 1,
    spec: specAt(reading, specs, record.spec),
    holds,
    lastToken,
    transitions,
    lastEndReason:
      lastEndReason === TermEndReason.UNSPECIFIED
        ? undefined
        : wordOf(reading, "lease.last_end_reason", termEndReasons, lastEndReason),
    freeSince: record.freeSince - 1,
    preferredHolder,
    ...marksFromRecord(reading, record),
    candidates: mapped(record.candidates, (candidate) => candidateRecordFromWire(reading, candidate)),
    guarded: mapped(record.guarded, ({ holder: writer, key, revision, token, value }) => {
      return { key, value: ownBytes(value), revision: revision - 1, token, holder: writer };
    }),
    history: mapped(record.history, (line) => lineFromWire(reading, line, holder)),
    isHistoryTruncated: record.historyTruncated,
    decisions: mapped(record.decisions, ({ decisionId, encodedDecision, revision }) => {
      return { id: decisionId, body: ownBytes(encodedDecision), revision: revision - 1 };
    }),
  };
}

function mapped<T, U>(items: readonly T[], map: (item: T) => U): readonly U[] {
  return items.length === 0 ? none : items.map(map);
}

function specAt(reading: Reading, specs: readonly LeaseSpec[], place: number): LeaseSpec {
  const spec = specs[place - 1];
  if (spec === undefined) reading.reject("lease.spec", `must be 1 to ${specs.length}`, String(place));
  return spec ?? defaultLeaseSpec;
}

type Marks = Pick<
  StoredLease,
  "pending" | "lockDelay" | "deletion" | "strategy" | "conflict" | "endOfTerm" | "eligibility" | "migration"
>;

/** What few leases have. */
function marksFromRecord(reading: Reading, record: SnapshotLease): Marks {
  const { conflict, endOfTerm, pending, strategy } = record;
  const delayMs = durationFromWire(reading, "lease.lock_delay", record.lockDelay, 0);
  const lockDelayFrom = indexOf(record.lockDelayFrom);
  const { encodedConfiguration } = record;
  return {
    pending: pending && { ...pendingFromWire(reading, "lease.pending", pending), from: record.pendingFrom - 1 },
    lockDelay: lockDelayFrom === undefined ? undefined : { from: lockDelayFrom, delayMs },
    deletion: deletionFromRecord(reading, record),
    strategy: strategy && {
      ...strategySettingFromWire(reading, "lease.strategy", strategy),
      set: record.strategySet - 1,
    },
    conflict: conflict && {
      ...strategyConflictFromWire(reading, "lease.conflict", conflict),
      since: record.conflictSince - 1,
    },
    endOfTerm: endOfTerm && {
      ...endOfTermFromWire(reading, "lease.end_of_term", endOfTerm, record.endOfTermCoolDown),
      marked: record.endOfTermMarked - 1,
    },
    eligibility: eligibilityFromWire(record.eligibility),
    migration: encodedConfiguration && {
      configuration: ownBytes(encodedConfiguration),
      revision: record.configurationRevision - 1,
    },
  };
}

function deletionFromRecord(reading: Reading, record: SnapshotLease): Deletion | undefined {
  const { deletion, deletionAuthor, deletionReason: reason } = record;
  if (deletion === TermEndReason.UNSPECIFIED) return undefined;
  const endReason = termEndReasons.fromWire[deletion];
  const isKnown = endReason === "deleted" || endReason === "collected";
  if (!isKnown) reading.reject("lease.deletion", "must be DELETED or COLLECTED", String(deletion));
  return { endReason: isKnown ? endReason : "deleted", author: shareText(deletionAuthor), reason };
}
