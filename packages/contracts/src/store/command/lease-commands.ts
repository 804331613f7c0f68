import { type CommandOf, type WrittenHold as CoreWrittenHold, checkDurationMs, checkLeaseSpec } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import type {
  LeaseServiceCreateRequest,
  LeaseServiceDeleteRequest,
  LeaseServiceRevokeRequest,
  LeaseServiceStealRequest,
  LeaseServiceUpdateRequest,
  WrittenHold,
} from "../../gen/tenure/v1/lease.ts";
import { Reading } from "../reading.ts";
import { uidFromWire } from "../value/key.ts";
import { leaseSpecFields, leaseSpecFromWire } from "../value/lease-spec.ts";
import { strategyFromWire } from "../value/strategy.ts";
import { durationFromWire, writtenTimesFromWire } from "../value/time.ts";
import { claimantFromWire } from "./claimant.ts";
import { checkHolderText } from "./claimant-rules.ts";
import { maskedFields } from "./field-mask.ts";
import { addHeader, type Draft, readSendNumber, requireReason } from "./header.ts";
import { checkLabelKeys } from "./label-keys.ts";
import { requestLease } from "./request-key.ts";

/** LeaseService.Create as a command. */
export function createCommand(request: LeaseServiceCreateRequest, principal: string): CommandOf<"create"> | Fault {
  const reading = new Reading();
  const lease = requestLease(reading, "lease", request.lease);
  const spec = leaseSpecFromWire(reading, "spec", request.spec);
  checkLabelKeys(reading, "spec.labels", spec.labels);
  reading.rejectAll(checkLeaseSpec(spec));
  const command: Draft<CommandOf<"create">> = { kind: "create", lease, spec, principal };
  if (request.writtenHold !== undefined) command.written = readWrittenHold(reading, request.writtenHold);
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

/** LeaseService.Update as a command. Without spec and mask, the spec stays as it is. */
export function updateCommand(request: LeaseServiceUpdateRequest, principal: string): CommandOf<"update"> | Fault {
  const reading = new Reading();
  const { createIfAbsent, expectedRevision, expectedUid, updateMask: paths = [], writtenHold } = request;
  const lease = requestLease(reading, "lease", request.lease);
  const isWhole = paths.length === 0;
  const whole = leaseSpecFromWire(reading, "spec", request.spec);
  checkLabelKeys(reading, "spec.labels", whole.labels);
  // Some fields are judged together, so part of a spec can be judged only with the rest of the record.
  if (isWhole) reading.rejectAll(checkLeaseSpec(whole));
  const isUntouched = isWhole && request.spec === undefined;
  const command: Draft<CommandOf<"update">> = {
    kind: "update",
    lease,
    expectedRevision,
    expectedUid: expectedUid === "" ? undefined : uidFromWire(expectedUid),
    spec: isUntouched ? {} : maskedFields(reading, leaseSpecFields, paths, whole),
    createIfAbsent,
    principal,
  };
  if (writtenHold !== undefined) command.written = readWrittenHold(reading, writtenHold);
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

function readWrittenHold(reading: Reading, written: WrittenHold): CoreWrittenHold {
  const { holder, holderKey, leaseDuration, preferredHolder, strategy } = written;
  checkHolderText(reading, "written_hold.holder", holder);
  checkHolderText(reading, "written_hold.holder_key", holderKey);
  checkHolderText(reading, "written_hold.preferred_holder", preferredHolder ?? "");
  return {
    holder,
    holderKey,
    leaseDurationMs: readWrittenDuration(reading, leaseDuration),
    times: writtenTimesFromWire(reading, "written_hold", written),
    strategy: strategy && strategyFromWire(reading, "written_hold.strategy", strategy),
    preferredHolder,
  };
}

function readWrittenDuration(reading: Reading, duration: WrittenHold["leaseDuration"]): number | undefined {
  const field = "written_hold.lease_duration";
  const durationMs = durationFromWire(reading, field, duration, undefined);
  if (durationMs !== undefined) reading.rejectAll(checkDurationMs(field, durationMs, 1, Number.MAX_SAFE_INTEGER));
  return durationMs;
}

/** LeaseService.Delete as a command. */
export function deleteCommand(request: LeaseServiceDeleteRequest, principal: string): CommandOf<"delete"> | Fault {
  const reading = new Reading();
  const { expectedRevision, expectedUid } = request;
  const command: Draft<CommandOf<"delete">> = {
    kind: "delete",
    lease: requestLease(reading, "lease", request.lease),
    expectedRevision,
    expectedUid: expectedUid === "" ? undefined : uidFromWire(expectedUid),
    principal,
  };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

/** LeaseService.Revoke as a command. */
export function revokeCommand(request: LeaseServiceRevokeRequest, principal: string): CommandOf<"revoke"> | Fault {
  const reading = new Reading();
  requireReason(reading, request.note);
  const command: Draft<CommandOf<"revoke">> = {
    kind: "revoke",
    lease: requestLease(reading, "lease", request.lease),
    expectedRevision: requireRevision(reading, request.expectedRevision),
    token: request.token,
    principal,
  };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

/** LeaseService.Steal as a command. */
export function stealCommand(request: LeaseServiceStealRequest, principal: string): CommandOf<"steal"> | Fault {
  const reading = new Reading();
  requireReason(reading, request.note);
  const command: Draft<CommandOf<"steal">> = {
    kind: "steal",
    lease: requestLease(reading, "lease", request.lease),
    expectedRevision: requireRevision(reading, request.expectedRevision),
    claimant: claimantFromWire(reading, request.claimant, principal),
    sendNumber: readSendNumber(reading, "send_number", request.sendNumber),
    principal,
  };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

/** Only a lease that exists can be revoked or stolen, so 0 is no revision that a caller saw. */
function requireRevision(reading: Reading, expectedRevision: bigint): bigint {
  if (expectedRevision === 0n) reading.reject("expected_revision", "is required", "0");
  return expectedRevision;
}
