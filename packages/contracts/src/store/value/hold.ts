import type { EndOfTerm as CoreEndOfTerm, PendingHold as CorePendingHold, HoldDetails, HoldFacts } from "@tenure/core";
import type { Duration } from "../../gen/google/protobuf/duration.ts";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.ts";
import type { WrittenTimes } from "../../gen/tenure/log/v1/hold_event.ts";
import type { EndOfTerm, Hold, PendingHold } from "../../gen/tenure/v1/hold.ts";
import type { Reading } from "../reading.ts";
import { holdModes, holdOrigins, wordOf } from "./enums.ts";
import { participantFromWire, participantToWire } from "./participant.ts";
import { bytesOfHex, hexOf, ownBytes, shareText } from "./text.ts";
import { durationFromWire, durationToWire, writtenTimesFromWire, writtenTimesToWire } from "./time.ts";

const noBytes = new Uint8Array(0);

/** When a term began and was last renewed, by the owner's wall clock; both absent in the log. */
export interface HoldTimes {
  readonly acquiredAt: Timestamp | undefined;
  readonly renewedAt: Timestamp | undefined;
}

const noTimes: HoldTimes = { acquiredAt: undefined, renewedAt: undefined };

/** A term on the wire, as far as the API shows it. */
export function holdToWire(
  hold: Omit<HoldFacts, "details"> & { readonly details?: HoldDetails | undefined },
  partition: number,
  times: HoldTimes = noTimes,
): Hold {
  const { details } = hold;
  return {
    holdId: BigInt(hold.id),
    partition,
    token: hold.token,
    holder: hold.holder,
    holderKey: hold.holderKey,
    principal: hold.principal,
    mode: holdModes.toWire[hold.mode],
    units: hold.units,
    origin: holdOrigins.toWire[hold.origin],
    leaseDuration: durationToWire(hold.leaseDurationMs),
    acquiredAt: times.acquiredAt,
    renewedAt: times.renewedAt,
    candidate: details?.candidate ?? "",
    electedBy: details?.electedBy ?? "",
    decisionId: details?.decisionId ?? "",
    identity: details?.identity ?? "",
    participant: participantToWire(details?.participant),
    value: details?.value ?? noBytes,
  };
}

/** What the log and snapshots keep of a term beside what the API shows. */
export interface HoldSecrets {
  readonly renewKeyHash: Uint8Array;
  readonly writtenTimes: WrittenTimes | undefined;
  readonly lockDelay: Duration | undefined;
}

/** The part of a term that the API does not show. */
export function holdSecretsToWire({ details, lockDelayMs }: Pick<HoldFacts, "details" | "lockDelayMs">): HoldSecrets {
  return {
    renewKeyHash: bytesOfHex(details?.renewKeyHash),
    writtenTimes: writtenTimesToWire(details?.writtenTimes),
    lockDelay: lockDelayMs === 0 ? undefined : durationToWire(lockDelayMs),
  };
}

/** A term from the log or a snapshot. */
export function holdFromWire(
  reading: Reading,
  field: string,
  hold: Hold | undefined,
  secrets: HoldSecrets,
): HoldFacts | undefined {
  if (hold === undefined) {
    reading.reject(field, "is required", "absent");
    return undefined;
  }
  const details = holdDetailsFromWire(reading, field, hold, secrets);
  return {
    id: Number(hold.holdId),
    token: hold.token,
    holder: hold.holder,
    holderKey: shareText(hold.holderKey),
    principal: shareText(hold.principal),
    mode: wordOf(reading, `${field}.mode`, holdModes, hold.mode),
    units: hold.units,
    origin: wordOf(reading, `${field}.origin`, holdOrigins, hold.origin),
    leaseDurationMs: durationFromWire(reading, `${field}.lease_duration`, hold.leaseDuration, 0),
    lockDelayMs: durationFromWire(reading, `${field}.lock_delay`, secrets.lockDelay, 0),
    ...(details === undefined ? undefined : { details }),
  };
}

/** What few holds have; undefined for a plain one, so that it stays small. */
export function holdDetailsFromWire(
  reading: Reading,
  field: string,
  hold: Pick<Hold, "candidate" | "decisionId" | "electedBy" | "identity" | "participant" | "value">,
  { renewKeyHash, writtenTimes }: Pick<HoldSecrets, "renewKeyHash" | "writtenTimes">,
): HoldDetails | undefined {
  const { candidate, decisionId, electedBy, identity, participant, value } = hold;
  const isPlain =
    candidate === "" && identity === "" && electedBy === "" && decisionId === "" && participant === undefined;
  if (isPlain && value.length === 0 && renewKeyHash.length === 0 && writtenTimes === undefined) return undefined;
  return {
    ...(candidate === "" ? undefined : { candidate }),
    ...(electedBy === "" ? undefined : { electedBy: shareText(electedBy) }),
    ...(decisionId === "" ? undefined : { decisionId }),
    ...(identity === "" ? undefined : { identity }),
    ...(participant === undefined ? undefined : { participant: participantFromWire(participant) }),
    ...(value.length === 0 ? undefined : { value: ownBytes(value) }),
    ...(renewKeyHash.length === 0 ? undefined : { renewKeyHash: hexOf(renewKeyHash) }),
    ...(writtenTimes === undefined
      ? undefined
      : { writtenTimes: writtenTimesFromWire(reading, `${field}.written_times`, writtenTimes) }),
  };
}

/** A choice that has not been accepted, on the wire; in the log its time is absent. */
export function pendingToWire(pending: CorePendingHold, electedAt?: Timestamp): PendingHold {
  const { acceptWindowMs, candidate, decisionId, electedBy, token } = pending;
  return { token, candidate, electedBy, decisionId, acceptWindow: durationToWire(acceptWindowMs), electedAt };
}

/** A choice that has not been accepted. */
export function pendingFromWire(reading: Reading, field: string, pending: PendingHold): CorePendingHold {
  const { acceptWindow, candidate, decisionId, electedBy, token } = pending;
  const acceptWindowMs = durationFromWire(reading, `${field}.accept_window`, acceptWindow, 0);
  return { token, candidate, electedBy: shareText(electedBy), decisionId, acceptWindowMs };
}

/** The mark that asks a holder to finish, on the wire; its cool-down stands beside it, and in the log it has no time. */
export function endOfTermToWire(mark: CoreEndOfTerm, markedAt?: Timestamp): EndOfTerm {
  const { author, decisionId, drainBoundMs, preferredHolder, reason, token } = mark;
  return { preferredHolder, token, drainBound: durationToWire(drainBoundMs), markedAt, author, reason, decisionId };
}

/** The mark that asks a holder to finish. */
export function endOfTermFromWire(
  reading: Reading,
  field: string,
  mark: EndOfTerm,
  coolDown: Duration | undefined,
): CoreEndOfTerm {
  const { author, decisionId, drainBound, preferredHolder, reason, token } = mark;
  const coolDownMs = durationFromWire(reading, `${field}.cool_down`, coolDown, undefined);
  return {
    token,
    preferredHolder,
    drainBoundMs: durationFromWire(reading, `${field}.drain_bound`, drainBound, 0),
    author: shareText(author),
    reason,
    decisionId,
    ...(coolDownMs === undefined ? undefined : { coolDownMs }),
  };
}
