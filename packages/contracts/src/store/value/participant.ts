import type { Participant as CoreParticipant, Timing as CoreTiming } from "@tenure/core";
import { defaultTiming } from "@tenure/core";
import type { Participant, Timing } from "../../gen/tenure/v1/hold.ts";
import type { Reading } from "../reading.ts";
import { bytesOfHex, hexOf, shareText } from "./text.ts";
import { durationFromWire, durationToWire } from "./time.ts";

/** A component and release on the wire. */
export function participantToWire(participant: CoreParticipant | undefined): Participant | undefined {
  if (participant === undefined) return undefined;
  const { component, configurationDigest, version } = participant;
  return { component, version, configurationDigest: bytesOfHex(configurationDigest) };
}

/** A component and release from the wire. */
export function participantFromWire({ component, configurationDigest, version }: Participant): CoreParticipant {
  return {
    component: shareText(component),
    version: shareText(version),
    configurationDigest: shareText(hexOf(configurationDigest)),
  };
}

/** The durations of a holder on the wire. */
export function timingToWire(timing: CoreTiming | undefined): Timing | undefined {
  if (timing === undefined) return undefined;
  return {
    leaseDuration: durationToWire(timing.leaseDurationMs),
    usableTerm: durationToWire(timing.usableTermMs),
    renewInterval: durationToWire(timing.renewIntervalMs),
    requestTimeout: durationToWire(timing.requestTimeoutMs),
  };
}

/** The durations of a holder; one that is absent takes the default, and core judges whether they fit together. */
export function timingFromWire(reading: Reading, field: string, timing: Timing): CoreTiming {
  const { leaseDuration, renewInterval, requestTimeout, usableTerm } = timing;
  const known = defaultTiming;
  return {
    leaseDurationMs: durationFromWire(reading, `${field}.lease_duration`, leaseDuration, known.leaseDurationMs),
    usableTermMs: durationFromWire(reading, `${field}.usable_term`, usableTerm, known.usableTermMs),
    renewIntervalMs: durationFromWire(reading, `${field}.renew_interval`, renewInterval, known.renewIntervalMs),
    requestTimeoutMs: durationFromWire(reading, `${field}.request_timeout`, requestTimeout, known.requestTimeoutMs),
  };
}
