import type { Cause, PartitionEvent } from "@tenure/core";
import type { Event } from "../../gen/tenure/log/v1/event.ts";
import type { AttemptRecorded } from "../../gen/tenure/log/v1/partition_event.ts";
import type { Reading } from "../reading.ts";
import { clientFromWire, clientToWire } from "../value/client.ts";
import { outcomeFromWire, outcomeToWire } from "../value/outcome.ts";
import { settingsFromWire, settingsToWire } from "../value/settings.ts";
import { snapshotReferenceFromWire, snapshotReferenceToWire } from "../value/snapshot-reference.ts";
import { durationFromWire, durationToWire } from "../value/time.ts";

/** What the log calls an event. */
export type WireEvent = NonNullable<Event["event"]>;

const noBytes = new Uint8Array(0);

/** A fact about the partition as the log has it. `epoch` is the batch's; an owner's first event has no other. */
export function partitionEventToWire(event: PartitionEvent, epoch: bigint): WireEvent {
  switch (event.kind) {
    case "ownerChanged": {
      const { isHandedOver: handedOver, owner, previousEpoch, previousOwner } = event;
      if (event.epoch !== epoch) throw new Error(`epoch ${event.epoch} cannot begin in a batch of epoch ${epoch}`);
      return { $case: "ownerChanged", value: { owner, previousEpoch, previousOwner, handedOver } };
    }
    case "ownerHandedOver":
      return { $case: "ownerHandedOver", value: { successor: event.successor, owesPause: event.owesPause } };
    case "snapshotAnnounced":
      return { $case: "snapshotAnnounced", value: { snapshot: snapshotReferenceToWire(event.snapshot) } };
    case "settingsChanged":
      return { $case: "settingsChanged", value: settingsToWire(event.settings) };
    case "recoveryChanged":
      return { $case: "recoveryChanged", value: { holdOff: durationToWire(event.holdOffMs) } };
    case "attemptRecorded":
      return { $case: "attemptRecorded", value: attemptToWire(event) };
    case "attemptsForgotten": {
      const { clientId, principal } = clientToWire(event.client);
      return { $case: "attemptsForgotten", value: { clientId, principal, belowNumber: event.belowNumber } };
    }
  }
}

type Recorded = Extract<PartitionEvent, { readonly kind: "attemptRecorded" }>;

function attemptToWire({ client, digest, number, outcome, settledBelow }: Recorded): AttemptRecorded {
  const { clientId, principal } = clientToWire(client);
  const requestDigest = new Uint8Array([digest >>> 24, digest >>> 16, digest >>> 8, digest]);
  return {
    attempt: { clientId, number, settledBelow },
    principal,
    requestDigest,
    outcome: outcomeToWire(outcome),
  };
}

/** The kinds that {@link partitionEventFromWire} reads. */
export type WirePartitionEvent = Extract<
  WireEvent,
  {
    readonly $case:
      | "ownerChanged"
      | "ownerHandedOver"
      | "snapshotAnnounced"
      | "settingsChanged"
      | "recoveryChanged"
      | "attemptRecorded"
      | "attemptsForgotten";
  }
>;

/** A fact about the partition, of a batch of this epoch. */
export function partitionEventFromWire(
  reading: Reading,
  event: WirePartitionEvent,
  { author, reason }: Cause,
  epoch: bigint,
): PartitionEvent & Cause {
  switch (event.$case) {
    case "ownerChanged": {
      const { handedOver: isHandedOver, owner, previousEpoch, previousOwner } = event.value;
      return { kind: "ownerChanged", epoch, owner, previousEpoch, previousOwner, isHandedOver, author, reason };
    }
    case "ownerHandedOver": {
      const { owesPause, successor } = event.value;
      return { kind: "ownerHandedOver", successor, owesPause, author, reason };
    }
    case "snapshotAnnounced": {
      const { snapshot = missing(reading, "snapshot_announced.snapshot", noSnapshot) } = event.value;
      return { kind: "snapshotAnnounced", snapshot: snapshotReferenceFromWire(snapshot), author, reason };
    }
    case "settingsChanged": {
      const settings = settingsFromWire(reading, "settings_changed", event.value);
      return { kind: "settingsChanged", settings, author, reason };
    }
    case "recoveryChanged": {
      const holdOffMs = durationFromWire(reading, "recovery_changed.hold_off", event.value.holdOff, 0);
      return { kind: "recoveryChanged", holdOffMs, author, reason };
    }
    case "attemptRecorded":
      return attemptFromWire(reading, event.value, author, reason);
    case "attemptsForgotten": {
      const { belowNumber } = event.value;
      return { kind: "attemptsForgotten", client: clientFromWire(event.value), belowNumber, author, reason };
    }
  }
}

const noSnapshot = { name: "", sequence: 0n, digest: noBytes, size: 0n };
const noAttempt = { clientId: "", number: 0n, settledBelow: 0n };

function missing<T>(reading: Reading, field: string, standIn: T): T {
  reading.reject(field, "is required", "absent");
  return standIn;
}

function attemptFromWire(
  reading: Reading,
  recorded: AttemptRecorded,
  author: string,
  reason: string,
): Recorded & Cause {
  const { attempt = missing(reading, "attempt_recorded.attempt", noAttempt), principal, requestDigest } = recorded;
  if (requestDigest.length !== 4) {
    reading.reject("attempt_recorded.request_digest", "must have 4 bytes", `${requestDigest.length} bytes`);
  }
  return {
    kind: "attemptRecorded",
    client: clientFromWire({ clientId: attempt.clientId, principal }),
    number: attempt.number,
    settledBelow: attempt.settledBelow,
    digest: wordOfBytes(requestDigest),
    outcome: outcomeFromWire(reading, "attempt_recorded.outcome", recorded.outcome),
    author,
    reason,
  };
}

/** A number of 32 bits, the most significant byte first. */
function wordOfBytes(bytes: Uint8Array): number {
  return (((bytes[0] ?? 0) << 24) | ((bytes[1] ?? 0) << 16) | ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0)) >>> 0;
}
