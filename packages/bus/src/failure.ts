import { Failure, failureFromFault, faultFromFailure } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import { malformed, payloadTooLarge } from "./faults.ts";

/** The fault in a reply that the failure header marks. Bytes that are none become INTERNAL: a failure stays a failure. */
export function decodeFailure(method: string, bytes: Uint8Array): Fault {
  try {
    return faultFromFailure(Failure.decode(bytes));
  } catch (cause) {
    return malformed(method, "response", cause);
  }
}

/** A fault as bytes of at most `limitBytes`: one whose details do not fit is told in short rather than not at all. */
export function encodeFailure(method: string, fault: Fault, limitBytes: number): Uint8Array {
  const bytes = Failure.encode(failureFromFault(fault)).finish();
  if (bytes.byteLength <= limitBytes) return bytes;
  const { applied } = fault.details;
  const short = new Fault({
    code: fault.code,
    reason: fault.reason,
    message: payloadTooLarge(`the failure of ${method}`, bytes.byteLength, limitBytes, "UNKNOWN").message,
    details: applied === undefined ? {} : { applied },
  });
  return Failure.encode(failureFromFault(short)).finish();
}
