import { decodeStatusDetails } from "@tenure/contracts";
import { faultCodeOf } from "@tenure/kernel";
import { errorFromFault, TenureError } from "../errors.ts";

/** How a stream ended, as gRPC says it. */
export interface GrpcStatus {
  readonly code: number;
  /** For people. */
  readonly message: string;
  /** `google.rpc.Status`, encoded, if the server sent one. */
  readonly details?: Uint8Array | undefined;
}

/** What a gRPC status says, with the service's own detail if it has one. */
export function errorFromStatus({ code: number, details, message }: GrpcStatus, endpoint: string): TenureError {
  const fault = details && faultOf(details);
  if (fault !== undefined) return fault;
  const code = faultCodeOf(number);
  // A stream that ends well is over all the same: the session opens another.
  if (number === 0) return broken(endpoint, "ended the session");
  if (code === "UNAVAILABLE" || code === "CANCELLED" || code === "INTERNAL") return broken(endpoint, message);
  return new TenureError({ code, reason: code, message: `${endpoint}: ${message}` });
}

function faultOf(details: Uint8Array): TenureError | undefined {
  try {
    return errorFromFault(decodeStatusDetails(details));
  } catch {
    // Not ours: the code and text of the status must do.
    return undefined;
  }
}

/** The error of a session that was cut, or never came about. */
export function broken(endpoint: string, why: string): TenureError {
  return new TenureError({ code: "UNAVAILABLE", reason: "SESSION_BROKEN", message: `${endpoint}: ${why}` });
}
