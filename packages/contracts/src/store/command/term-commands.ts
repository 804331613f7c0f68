import {
  type Claim,
  type CommandOf,
  type Wait as CoreWait,
  checkCandidateName,
  checkDurationMs,
  checkLeaseSpec,
  defaultLeaseSpec,
  type TermCommand,
} from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import type { LeaseClaim, Wait } from "../../gen/tenure/v1/claim.ts";
import { TermEndReason } from "../../gen/tenure/v1/hold.ts";
import type {
  LeaseServiceAcceptRequest,
  LeaseServiceAcquireRequest,
  LeaseServiceReleaseRequest,
  LeaseServiceRenewRequest,
} from "../../gen/tenure/v1/lease.ts";
import type { Renewal } from "../../gen/tenure/v1/renewal.ts";
import { Reading } from "../reading.ts";
import { holdModes, wordOf } from "../value/enums.ts";
import { leaseSpecFromWire } from "../value/lease-spec.ts";
import { durationFromWire, periodFromWire } from "../value/time.ts";
import { claimantFromWire, renewKeyHashOf } from "./claimant.ts";
import { checkHolderText } from "./claimant-rules.ts";
import { addHeader, type Draft, readSendNumber, requireCount } from "./header.ts";
import { checkLabelKeys } from "./label-keys.ts";
import { entryLease, requestCandidate, requestLease } from "./request-key.ts";

export const mostRenewals = 1_000;
const mostReleases = 16;

/** LeaseService.Acquire as a command. */
export function acquireCommand(request: LeaseServiceAcquireRequest, principal: string): CommandOf<"acquire"> | Fault {
  const reading = new Reading();
  const { claims, fallbackCandidate, givenUp, wait } = request;
  if (claims.length === 0) reading.reject("claims", "must have at least one claim", "none");
  const command: Draft<CommandOf<"acquire">> = {
    kind: "acquire",
    claims: claims.map((claim, place) => readClaim(reading, claim, place)),
    claimant: claimantFromWire(reading, request.claimant, principal),
    sendNumber: readSendNumber(reading, "send_number", request.sendNumber),
    principal,
  };
  if (wait !== undefined) command.wait = readWait(reading, wait);
  if (fallbackCandidate !== "") {
    reading.rejectAll(checkCandidateName(fallbackCandidate, "fallback_candidate"));
    command.fallbackCandidate = fallbackCandidate;
  }
  if (givenUp) command.isGivenUp = true;
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

function readClaim(reading: Reading, { lease, mode, spec, units }: LeaseClaim, place: number): Claim {
  const field = `claims[${place}]`;
  const claim: Draft<Claim> = {
    lease: requestLease(reading, `${field}.lease`, lease),
    mode: wordOf(reading, `${field}.mode`, holdModes, mode, "exclusive"),
    units: units === 0 ? 1 : units,
  };
  if (spec !== undefined) {
    claim.spec = leaseSpecFromWire(reading, `${field}.spec`, spec);
    if (claim.spec === defaultLeaseSpec) return claim;
    checkLabelKeys(reading, `${field}.spec.labels`, claim.spec.labels);
    reading.rejectAll(checkLeaseSpec(claim.spec, `${field}.spec`));
  }
  return claim;
}

function readWait(reading: Reading, { age, beatNumber, supersedesKey, timeout }: Wait): CoreWait {
  checkHolderText(reading, "wait.supersedes_key", supersedesKey ?? "");
  return {
    timeoutMs: periodFromWire(reading, "wait.timeout", timeout, undefined),
    ageMs: periodFromWire(reading, "wait.age", age, 0),
    beatNumber: readSendNumber(reading, "wait.beat_number", beatNumber),
    ...(supersedesKey !== undefined && { supersedesKey }),
  };
}

/** LeaseService.Accept as a command. */
export function acceptCommand(request: LeaseServiceAcceptRequest, principal: string): CommandOf<"accept"> | Fault {
  const reading = new Reading();
  const { candidate, lease } = requestCandidate(reading, "candidate", request.candidate);
  const command: Draft<CommandOf<"accept">> = {
    kind: "accept",
    lease,
    candidate,
    token: request.token,
    claimant: claimantFromWire(reading, request.claimant, candidate),
    sendNumber: readSendNumber(reading, "send_number", request.sendNumber),
    principal,
  };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

/** LeaseService.Renew as a command. Its leases may be of several partitions: the caller sorts them. */
export function renewCommand(request: LeaseServiceRenewRequest, principal: string): CommandOf<"renew"> | Fault {
  const reading = new Reading();
  requireCount(reading, "renewals", request.renewals, 1, mostRenewals);
  return readRenewals(reading, request.renewals, principal, renewKeyHashOf(request.renewKey));
}

type RenewItem = Extract<TermCommand, { readonly kind: "renew" }>["items"][number];

function readRenewals(
  reading: Reading,
  renewals: readonly Renewal[],
  principal: string,
  renewKeyHash: string | undefined,
): CommandOf<"renew"> | Fault {
  const items = renewals.map(({ lease, leaseDuration, sendNumber, token }, place): RenewItem => {
    const item: Draft<RenewItem> = {
      lease: entryLease(reading, "renewals", place, lease),
      token,
      sendNumber: readSendNumber(reading, "renewals", sendNumber, place),
    };
    if (leaseDuration === undefined) return item;
    const field = `renewals[${place}].lease_duration`;
    item.leaseDurationMs = durationFromWire(reading, field, leaseDuration, 0);
    reading.rejectAll(checkDurationMs(field, item.leaseDurationMs, 1, Number.MAX_SAFE_INTEGER));
    return item;
  });
  const command: Draft<CommandOf<"renew">> = { kind: "renew", items, principal };
  if (renewKeyHash !== undefined) command.renewKeyHash = renewKeyHash;
  return reading.refusal() ?? command;
}

/** LeaseService.Release as a command. */
export function releaseCommand(request: LeaseServiceReleaseRequest, principal: string): CommandOf<"release"> | Fault {
  const reading = new Reading();
  requireCount(reading, "items", request.items, 1, mostReleases);
  const items = request.items.map(({ lease, token }, place) => {
    return { lease: entryLease(reading, "items", place, lease), token };
  });
  const command: Draft<CommandOf<"release">> = { kind: "release", items, principal };
  const renewKeyHash = renewKeyHashOf(request.renewKey);
  if (renewKeyHash !== undefined) command.renewKeyHash = renewKeyHash;
  const endReason = readEndReason(reading, request.endReason);
  if (endReason !== undefined) command.endReason = endReason;
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

/** UNSPECIFIED leaves it to the owner, which knows whether the holder was asked to finish. */
function readEndReason(
  reading: Reading,
  endReason: TermEndReason,
): "released" | "preempted" | "steppedDown" | undefined {
  switch (endReason) {
    case TermEndReason.UNSPECIFIED:
      return undefined;
    case TermEndReason.RELEASED:
      return "released";
    case TermEndReason.PREEMPTED:
      return "preempted";
    case TermEndReason.STEPPED_DOWN:
      return "steppedDown";
    default:
      reading.reject("end_reason", "must be RELEASED, PREEMPTED or STEPPED_DOWN", String(endReason));
      return undefined;
  }
}
