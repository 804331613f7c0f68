import type { Cause, HoldEvent, HoldFacts } from "@tenure/core";
import type { HoldChanged, HoldGranted } from "../../gen/tenure/log/v1/hold_event.ts";
import type { Reading } from "../reading.ts";
import { termEndReasons, wordOf } from "../value/enums.ts";
import {
  endOfTermFromWire,
  endOfTermToWire,
  holdFromWire,
  holdSecretsToWire,
  holdToWire,
  pendingFromWire,
  pendingToWire,
} from "../value/hold.ts";
import { leaseKeyFromWire, leaseKeyToWire } from "../value/key.ts";
import { ownBytes } from "../value/text.ts";
import {
  durationFromWire,
  durationToWire,
  optionalDurationToWire,
  writtenTimesFromWire,
  writtenTimesToWire,
} from "../value/time.ts";
import type { WireEvent } from "./partition-event.ts";

/** A fact about a term that is not a plain renewal. */
export type TermEvent = Exclude<HoldEvent, { readonly kind: "renewed" }>;
type Of<K extends HoldEvent["kind"]> = Extract<HoldEvent, { readonly kind: K }>;

/** A fact about a term as the log has it. The partition of a hold is the batch's, so it is not written again. */
export function holdEventToWire(event: TermEvent): WireEvent {
  switch (event.kind) {
    case "holdGranted":
      return { $case: "holdGranted", value: grantToWire(event) };
    case "holdChanged":
      return { $case: "holdChanged", value: changeToWire(event) };
    case "holdEnded": {
      const { endReason, heldForMs, holdId, lockDelayMs, successor, token } = event;
      const value = {
        lease: leaseKeyToWire(event.lease),
        holdId: BigInt(holdId),
        token,
        endReason: termEndReasons.toWire[endReason],
        heldFor: durationToWire(heldForMs),
        successor,
        lockDelay: lockDelayMs === 0 ? undefined : durationToWire(lockDelayMs),
      };
      return { $case: "holdEnded", value };
    }
    case "holdPending": {
      const value = { lease: leaseKeyToWire(event.lease), pending: pendingToWire(event.pending) };
      return { $case: "holdPending", value };
    }
    case "pendingLapsed": {
      const { candidate, token } = event;
      return { $case: "pendingLapsed", value: { lease: leaseKeyToWire(event.lease), token, candidate } };
    }
    case "endOfTermMarked": {
      const { endOfTerm } = event;
      const coolDown = optionalDurationToWire(endOfTerm.coolDownMs);
      const value = { lease: leaseKeyToWire(event.lease), endOfTerm: endOfTermToWire(endOfTerm), coolDown };
      return { $case: "endOfTermMarked", value };
    }
    case "endOfTermCleared":
      return { $case: "endOfTermCleared", value: { lease: leaseKeyToWire(event.lease), token: event.token } };
  }
}

function grantToWire({ hold, lease, transitions }: Of<"holdGranted">): HoldGranted {
  const { lockDelay, renewKeyHash, writtenTimes } = holdSecretsToWire(hold);
  return {
    lease: leaseKeyToWire(lease),
    hold: holdToWire(hold, 0),
    renewKeyHash,
    transitions,
    writtenTimes,
    lockDelay,
  };
}

function changeToWire({ holdId, lease, leaseDurationMs, value, writtenTimes }: Of<"holdChanged">): HoldChanged {
  return {
    lease: leaseKeyToWire(lease),
    holdId: BigInt(holdId),
    leaseDuration: optionalDurationToWire(leaseDurationMs),
    value,
    writtenTimes: writtenTimesToWire(writtenTimes),
  };
}

/** The kinds that {@link holdEventFromWire} reads. */
export type WireHoldEvent = Extract<
  WireEvent,
  {
    readonly $case:
      | "holdGranted"
      | "holdChanged"
      | "holdEnded"
      | "holdPending"
      | "pendingLapsed"
      | "endOfTermMarked"
      | "endOfTermCleared";
  }
>;

/** A fact about a term. */
export function holdEventFromWire(
  reading: Reading,
  event: WireHoldEvent,
  { author, reason }: Cause,
): TermEvent & Cause {
  const lease = leaseKeyFromWire(reading, event.$case, event.value.lease);
  switch (event.$case) {
    case "holdGranted": {
      const hold = holdFromWire(reading, "hold_granted.hold", event.value.hold, event.value) ?? noHold;
      return { kind: "holdGranted", lease, hold, transitions: event.value.transitions, author, reason };
    }
    case "holdChanged":
      return { ...changeFromWire(reading, lease, event.value), author, reason };
    case "holdEnded": {
      const { endReason, heldFor, holdId, lockDelay, successor, token } = event.value;
      return {
        kind: "holdEnded",
        lease,
        holdId: Number(holdId),
        token,
        endReason: wordOf(reading, "hold_ended.end_reason", termEndReasons, endReason),
        heldForMs: durationFromWire(reading, "hold_ended.held_for", heldFor, 0),
        successor,
        lockDelayMs: durationFromWire(reading, "hold_ended.lock_delay", lockDelay, 0),
        author,
        reason,
      };
    }
    case "holdPending": {
      const given = event.value.pending ?? absent(reading, "hold_pending.pending", noPending);
      return { kind: "holdPending", lease, pending: pendingFromWire(reading, "pending", given), author, reason };
    }
    case "pendingLapsed": {
      const { candidate, token } = event.value;
      return { kind: "pendingLapsed", lease, token, candidate, author, reason };
    }
    case "endOfTermMarked": {
      const mark = event.value.endOfTerm ?? absent(reading, "end_of_term_marked.end_of_term", noMark);
      const endOfTerm = endOfTermFromWire(reading, "end_of_term", mark, event.value.coolDown);
      return { kind: "endOfTermMarked", lease, endOfTerm, author, reason };
    }
    case "endOfTermCleared":
      return { kind: "endOfTermCleared", lease, token: event.value.token, author, reason };
  }
}

function changeFromWire(reading: Reading, lease: string, change: HoldChanged): Of<"holdChanged"> {
  const { holdId, leaseDuration, value, writtenTimes } = change;
  const leaseDurationMs = durationFromWire(reading, "hold_changed.lease_duration", leaseDuration, undefined);
  return {
    kind: "holdChanged",
    lease,
    holdId: Number(holdId),
    ...(leaseDurationMs === undefined ? undefined : { leaseDurationMs }),
    ...(value === undefined ? undefined : { value: ownBytes(value) }),
    ...(writtenTimes === undefined
      ? undefined
      : { writtenTimes: writtenTimesFromWire(reading, "hold_changed.written_times", writtenTimes) }),
  };
}

function absent<T>(reading: Reading, field: string, standIn: T): T {
  reading.reject(field, "is required", "absent");
  return standIn;
}

const noPending = {
  token: 0n,
  candidate: "",
  electedBy: "",
  decisionId: "",
  acceptWindow: undefined,
  electedAt: undefined,
};

const noMark = {
  preferredHolder: "",
  token: 0n,
  drainBound: undefined,
  markedAt: undefined,
  author: "",
  reason: "",
  decisionId: "",
};

/** Stands in for a term that could not be read; the batch that had it is refused. */
const noHold: HoldFacts = {
  id: 0,
  token: 0n,
  holder: "",
  holderKey: "",
  principal: "",
  mode: "exclusive",
  units: 0,
  origin: "acquired",
  leaseDurationMs: 0,
  lockDelayMs: 0,
};
