import { Fault, type FaultCode, type FaultDetails, faultCodeOf, faultCodes } from "@tenure/kernel";
import { durationFromMs, durationToMs } from "./duration.ts";
import type { Failure } from "./gen/tenure/bus/v1/failure.ts";
import { Applied, ErrorDetail, ErrorReason, RpcStatus } from "./gen/tenure/v1/error.ts";

/**
 * Faults on the wire. A fault comes back with its code, reason, message and every detail; only its cause stays behind,
 * because that belongs to one process. An empty list or map of details counts as absent, and an
 * attribute cannot be named `__proto__`.
 */

/** The type by which stock gRPC clients find our detail. */
const detailTypeUrl = "type.googleapis.com/tenure.v1.ErrorDetail";

const reasonNumbers: Readonly<Record<string, ErrorReason>> = ErrorReason;
const reasonNames: ReadonlyMap<number, string> = new Map(
  Object.entries(ErrorReason).map(([name, number]) => [number, name]),
);

/** What a reason without a name in our own enum is called, so that it survives being passed on. */
const unnamedReason = /^REASON_(\d{1,9})$/;

/** A fault as the bus sends it, and as it stands inside other messages. */
export function failureFromFault(fault: Fault): Failure {
  return { code: faultCodes[fault.code], message: fault.message, detail: detailFromFault(fault) };
}

/** The fault that was sent. A failure of a foreign sender, without detail, takes its code's name as reason. */
export function faultFromFailure({ code: codeNumber, message, detail }: Failure): Fault {
  const code = faultCodeOf(codeNumber);
  if (detail === undefined) return new Fault({ code, reason: code, message });
  return new Fault({ code, reason: reasonOf(detail, code), message, details: detailsOf(detail) });
}

/** The content of gRPC's `grpc-status-details-bin` trailer for a fault. */
export function encodeStatusDetails(fault: Fault): Uint8Array {
  const value = ErrorDetail.encode(detailFromFault(fault)).finish();
  const details = [{ typeUrl: detailTypeUrl, value }];
  return RpcStatus.encode({ code: faultCodes[fault.code], message: fault.message, details }).finish();
}

/** The fault of a `grpc-status-details-bin` trailer; details of other types are skipped. Malformed bytes throw. */
export function decodeStatusDetails(bytes: Uint8Array): Fault {
  const { code, message, details } = RpcStatus.decode(bytes);
  const ours = details.find(({ typeUrl }) => typeUrl === detailTypeUrl);
  return faultFromFailure({ code, message, detail: ours && ErrorDetail.decode(ours.value) });
}

function detailFromFault({ reason, details }: Fault): ErrorDetail {
  const { violations, lease, holder, token, revision, successor, retryAfterMs, applied, limit, attributes } = details;
  return {
    reason: reasonNumber(reason),
    reasonName: reason,
    violations: violations?.map(({ field, rule, value }) => ({ field, rule, value })) ?? [],
    lease,
    holder,
    token,
    revision,
    successor,
    retryAfter: retryAfterMs === undefined ? undefined : durationFromMs(retryAfterMs),
    applied: applied === undefined ? Applied.UNSPECIFIED : Applied[applied],
    limit: limit && { name: limit.name, value: limit.value },
    attributes: { ...attributes },
  };
}

function detailsOf(detail: ErrorDetail): FaultDetails {
  const { violations, lease, holder, token, revision, successor, retryAfter, applied, limit, attributes } = detail;
  return {
    ...(violations.length > 0 && { violations }),
    ...(lease !== undefined && { lease }),
    ...(holder !== undefined && { holder }),
    ...(token !== undefined && { token }),
    ...(revision !== undefined && { revision }),
    ...(successor !== undefined && { successor }),
    ...(retryAfter !== undefined && { retryAfterMs: durationToMs(retryAfter) }),
    ...(applied === Applied.NO && { applied: "NO" }),
    // A number that a newer sender knows is as good as no certainty.
    ...(applied !== Applied.NO && applied !== Applied.UNSPECIFIED && { applied: "UNKNOWN" }),
    ...(limit !== undefined && { limit }),
    ...(Object.keys(attributes).length > 0 && { attributes }),
  };
}

function reasonNumber(reason: string): ErrorReason {
  const known = Object.hasOwn(reasonNumbers, reason) ? reasonNumbers[reason] : undefined;
  if (known !== undefined && known > 0) return known;
  const unnamed = unnamedReason.exec(reason);
  // Protobuf enums are open: a number of a newer sender is passed on although our type does not list it.
  return unnamed === null ? ErrorReason.UNSPECIFIED : (Number(unnamed[1]) as ErrorReason);
}

function reasonOf({ reason, reasonName }: ErrorDetail, code: FaultCode): string {
  if (reasonName !== "") return reasonName;
  if (reason === ErrorReason.UNSPECIFIED) return code;
  return reasonNames.get(reason) ?? `REASON_${reason}`;
}
