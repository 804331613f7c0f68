import type { HoldDetails, Revocation, StoredHold } from "@tenure/core";
import type { SnapshotHold, SnapshotHoldDetails } from "../../gen/tenure/log/v1/snapshot_record.ts";
import { TermEndReason } from "../../gen/tenure/v1/hold.ts";
import type { Reading } from "../reading.ts";
import { holdModes, holdOrigins, termEndReasons, wordOf } from "../value/enums.ts";
import { holdDetailsFromWire } from "../value/hold.ts";
import { participantToWire } from "../value/participant.ts";
import { bytesOfHex, shareText } from "../value/text.ts";
import { writtenTimesToWire } from "../value/time.ts";

const noBytes = new Uint8Array(0);

/** A running term in a snapshot. */
export function holdRecordToWire(hold: StoredHold): SnapshotHold {
  const { details, revocation } = hold;
  return {
    holdId: BigInt(hold.id),
    token: hold.token,
    holder: hold.holder,
    holderKey: hold.holderKey,
    principal: hold.principal,
    mode: holdModes.toWire[hold.mode],
    units: hold.units,
    origin: holdOrigins.toWire[hold.origin],
    leaseDurationMs: hold.leaseDurationMs,
    lockDelayMs: hold.lockDelayMs,
    granted: hold.granted + 1,
    renewal: hold.renewal + 1,
    details: details === undefined && revocation === undefined ? undefined : detailsToWire(details, revocation),
  };
}

function detailsToWire(details: HoldDetails | undefined = {}, revocation: Revocation | undefined): SnapshotHoldDetails {
  return {
    candidate: details.candidate ?? "",
    electedBy: details.electedBy ?? "",
    decisionId: details.decisionId ?? "",
    identity: details.identity ?? "",
    participant: participantToWire(details.participant),
    value: details.value ?? noBytes,
    renewKeyHash: bytesOfHex(details.renewKeyHash),
    writtenTimes: writtenTimesToWire(details.writtenTimes),
    revocation: revocation === undefined ? TermEndReason.UNSPECIFIED : termEndReasons.toWire[revocation.endReason],
    revocationAuthor: revocation?.author ?? "",
    revocationReason: revocation?.reason ?? "",
  };
}

/** A running term from a snapshot. Plain ones, which are nearly all, are made in one step. */
export function holdRecordFromWire(reading: Reading, record: SnapshotHold): StoredHold {
  const hold: StoredHold = {
    id: Number(record.holdId),
    token: record.token,
    holder: record.holder,
    holderKey: shareText(record.holderKey),
    principal: shareText(record.principal),
    mode: wordOf(reading, "hold.mode", holdModes, record.mode),
    units: record.units,
    origin: wordOf(reading, "hold.origin", holdOrigins, record.origin),
    leaseDurationMs: record.leaseDurationMs,
    lockDelayMs: record.lockDelayMs,
    granted: record.granted - 1,
    renewal: record.renewal - 1,
    revocation: undefined,
  };
  if (record.details === undefined) return hold;
  const details = holdDetailsFromWire(reading, "hold", record.details, record.details);
  const revocation = revocationFromWire(reading, record.details);
  return { ...hold, ...(details === undefined ? undefined : { details }), revocation };
}

function revocationFromWire(reading: Reading, details: SnapshotHoldDetails): Revocation | undefined {
  const { revocation, revocationAuthor, revocationReason: reason } = details;
  if (revocation === TermEndReason.UNSPECIFIED) return undefined;
  const endReason = termEndReasons.fromWire[revocation];
  const isKnown = endReason === "revoked" || endReason === "collected";
  if (!isKnown) reading.reject("hold.revocation", "must be REVOKED or COLLECTED", String(revocation));
  return { endReason: isKnown ? endReason : "revoked", author: shareText(revocationAuthor), reason };
}
