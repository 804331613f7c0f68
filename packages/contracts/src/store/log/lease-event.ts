import type { Cause, LeaseEvent } from "@tenure/core";
import { TermEndReason } from "../../gen/tenure/v1/hold.ts";
import type { Tombstone } from "../../gen/tenure/v1/lease_record.ts";
import type { Reading } from "../reading.ts";
import { eligibilityFromWire, eligibilityToWire } from "../value/eligibility.ts";
import { termEndReasons } from "../value/enums.ts";
import { leaseKeyFromWire, leaseKeyToWire, uidFromWire, uidToWire } from "../value/key.ts";
import { leaseSpecFromWire, leaseSpecToWire } from "../value/lease-spec.ts";
import {
  strategyConflictFromWire,
  strategyConflictToWire,
  strategySettingFromWire,
  strategySettingToWire,
} from "../value/strategy.ts";
import { ownBytes } from "../value/text.ts";
import type { WireEvent } from "./partition-event.ts";

/** A fact about a lease's record as the log has it. */
export function leaseEventToWire(event: LeaseEvent): WireEvent {
  const lease = leaseKeyToWire(event.lease);
  switch (event.kind) {
    case "leaseCreated": {
      const spec = leaseSpecToWire(event.spec);
      return { $case: "leaseCreated", value: { lease, uid: uidToWire(event.uid), spec } };
    }
    case "leaseUpdated":
      return { $case: "leaseUpdated", value: { lease, spec: leaseSpecToWire(event.spec) } };
    case "leaseDeleted": {
      const { endReason, isRemoved: removed, token } = event;
      // Its author and note are the event's own.
      const tombstone = { token, reason: termEndReasons.toWire[endReason], author: "", note: "" };
      return { $case: "leaseDeleted", value: { lease, tombstone, removed } };
    }
    case "leaseRestored":
      return { $case: "leaseRestored", value: { lease } };
    case "tombstoneRemoved":
      return { $case: "tombstoneRemoved", value: { lease } };
    case "strategyChanged": {
      const strategy = event.strategy && strategySettingToWire(event.strategy);
      const conflict = event.conflict && strategyConflictToWire(event.conflict);
      return { $case: "strategyChanged", value: { lease, strategy, conflict } };
    }
    case "migrationChanged": {
      const { configuration: encodedConfiguration } = event;
      const eligibility = eligibilityToWire(event.eligibility);
      const value = { lock: lease, eligibility, encodedConfiguration };
      return { $case: "migrationChanged", value };
    }
    case "decisionRecorded": {
      const { body: encodedDecision, id: decisionId } = event;
      return { $case: "decisionRecorded", value: { lease, decisionId, encodedDecision } };
    }
  }
}

/** The kinds that {@link leaseEventFromWire} reads. */
export type WireLeaseEvent = Extract<
  WireEvent,
  {
    readonly $case:
      | "leaseCreated"
      | "leaseUpdated"
      | "leaseDeleted"
      | "leaseRestored"
      | "tombstoneRemoved"
      | "strategyChanged"
      | "migrationChanged"
      | "decisionRecorded";
  }
>;

/** A fact about a lease's record. */
export function leaseEventFromWire(
  reading: Reading,
  event: WireLeaseEvent,
  { author, reason }: Cause,
): LeaseEvent & Cause {
  const { $case: kind } = event;
  const lease = leaseKeyFromWire(
    reading,
    kind,
    event.$case === "migrationChanged" ? event.value.lock : event.value.lease,
  );
  switch (event.$case) {
    case "leaseCreated": {
      const spec = leaseSpecFromWire(reading, "lease_created.spec", event.value.spec);
      return { kind: "leaseCreated", lease, uid: uidFromWire(event.value.uid), spec, author, reason };
    }
    case "leaseUpdated": {
      const spec = leaseSpecFromWire(reading, "lease_updated.spec", event.value.spec);
      return { kind: "leaseUpdated", lease, spec, author, reason };
    }
    case "leaseDeleted": {
      const { removed: isRemoved, tombstone } = event.value;
      const endReason = deletionReason(reading, tombstone);
      return { kind: "leaseDeleted", lease, isRemoved, token: tombstone?.token ?? 0n, endReason, author, reason };
    }
    case "leaseRestored":
    case "tombstoneRemoved":
      return { kind: event.$case, lease, author, reason };
    case "strategyChanged": {
      const { conflict, strategy } = event.value;
      return {
        kind: "strategyChanged",
        lease,
        strategy: strategy && strategySettingFromWire(reading, "strategy_changed.strategy", strategy),
        conflict: conflict && strategyConflictFromWire(reading, "strategy_changed.conflict", conflict),
        author,
        reason,
      };
    }
    case "migrationChanged": {
      const { encodedConfiguration } = event.value;
      const configuration = encodedConfiguration && ownBytes(encodedConfiguration);
      const eligibility = eligibilityFromWire(event.value.eligibility);
      return { kind: "migrationChanged", lease, configuration, eligibility, author, reason };
    }
    case "decisionRecorded": {
      const { decisionId: id, encodedDecision } = event.value;
      return { kind: "decisionRecorded", lease, id, body: ownBytes(encodedDecision), author, reason };
    }
  }
}

function deletionReason(reading: Reading, tombstone: Tombstone | undefined): "deleted" | "revoked" | "collected" {
  switch (tombstone?.reason) {
    case TermEndReason.DELETED:
      return "deleted";
    case TermEndReason.REVOKED:
      return "revoked";
    case TermEndReason.COLLECTED:
      return "collected";
    default:
      reading.reject("lease_deleted.tombstone.reason", "must be DELETED, REVOKED or COLLECTED", `${tombstone?.reason}`);
      return "deleted";
  }
}
