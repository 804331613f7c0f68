import type { Cause, Event as CoreEvent } from "@tenure/core";
import type { Event } from "../../gen/tenure/log/v1/event.ts";
import type { Reading } from "../reading.ts";
import { leaseKeyFromWire, leaseKeyToWire } from "../value/key.ts";
import { ownBytes, shareText } from "../value/text.ts";
import { candidateEventFromWire, candidateEventToWire } from "./candidate-event.ts";
import { holdEventFromWire, holdEventToWire } from "./hold-event.ts";
import { leaseEventFromWire, leaseEventToWire } from "./lease-event.ts";
import { partitionEventFromWire, partitionEventToWire, type WireEvent } from "./partition-event.ts";
import { unpackTerms } from "./unpack-terms.ts";
import type { LeftOut } from "./wire-batch.ts";

/** An event that is not a plain renewal; those are packed. */
export type SingleEvent = Exclude<CoreEvent, { readonly kind: "renewed" }>;

/** One fact as the log has it, in a batch of this epoch. */
export function eventToWire(event: SingleEvent, epoch: bigint): Event {
  return { author: event.author, reason: event.reason, event: bodyToWire(event, epoch) };
}

function bodyToWire(event: SingleEvent, epoch: bigint): WireEvent {
  switch (event.kind) {
    case "ownerChanged":
    case "ownerHandedOver":
    case "snapshotAnnounced":
    case "settingsChanged":
    case "recoveryChanged":
    case "attemptRecorded":
    case "attemptsForgotten":
      return partitionEventToWire(event, epoch);
    case "leaseCreated":
    case "leaseUpdated":
    case "leaseDeleted":
    case "leaseRestored":
    case "tombstoneRemoved":
    case "strategyChanged":
    case "migrationChanged":
    case "decisionRecorded":
      return leaseEventToWire(event);
    case "candidatePut":
    case "candidateRenewed":
    case "candidatesPinged":
    case "candidateAnswered":
    case "candidateRemoved":
    case "candidateCooledDown":
      return candidateEventToWire(event);
    case "guardChanged": {
      const { changes, holder, lease, token } = event;
      return { $case: "guardChanged", value: { lease: leaseKeyToWire(lease), token, holder, changes } };
    }
    default:
      return holdEventToWire(event);
  }
}

/** Adds what an event of a batch of this epoch says. A kind that this version does not know is rejected. */
export function addFromWire(
  into: CoreEvent[],
  reading: Reading,
  { author, event, reason }: Event,
  epoch: bigint,
  leftOut: LeftOut,
): void {
  if (event?.$case === "packedTerms") unpackTerms(event.value, leftOut, into);
  else into.push(eventFromWire(reading, event, { author: shareText(author), reason }, epoch));
}

type SingleWireEvent = Exclude<WireEvent, { readonly $case: "packedTerms" }>;

function eventFromWire(reading: Reading, event: SingleWireEvent | undefined, cause: Cause, epoch: bigint): CoreEvent {
  if (event === undefined) {
    reading.reject("event", "must be of a kind that this version knows", "an unknown kind");
    return { kind: "ownerHandedOver", successor: "", owesPause: false, ...cause };
  }
  switch (event.$case) {
    case "ownerChanged":
    case "ownerHandedOver":
    case "snapshotAnnounced":
    case "settingsChanged":
    case "recoveryChanged":
    case "attemptRecorded":
    case "attemptsForgotten":
      return partitionEventFromWire(reading, event, cause, epoch);
    case "leaseCreated":
    case "leaseUpdated":
    case "leaseDeleted":
    case "leaseRestored":
    case "tombstoneRemoved":
    case "strategyChanged":
    case "migrationChanged":
    case "decisionRecorded":
      return leaseEventFromWire(reading, event, cause);
    case "candidatePut":
    case "candidateRenewed":
    case "candidatesPinged":
    case "candidateAnswered":
    case "candidateRemoved":
    case "candidateCooledDown":
      return candidateEventFromWire(reading, event, cause);
    case "guardChanged":
      return guardEventFromWire(reading, event.value, cause);
    default:
      return holdEventFromWire(reading, event, cause);
  }
}

type GuardChanged = Extract<WireEvent, { readonly $case: "guardChanged" }>["value"];

function guardEventFromWire(reading: Reading, changed: GuardChanged, { author, reason }: Cause): CoreEvent {
  const { holder, token } = changed;
  const changes = changed.changes.map(({ key, value }) => ({ key, value: value && ownBytes(value) }));
  const lease = leaseKeyFromWire(reading, "guard_changed.lease", changed.lease);
  return { kind: "guardChanged", lease, token, holder, changes, author, reason };
}
