import type { Metadata, StatusObject } from "@grpc/grpc-js";
import { decodeStatusDetails } from "@tenure/contracts";
import { faultCodeOf } from "@tenure/kernel";
import { errorFromFault, TenureError } from "../errors.ts";

const detailsKey = "grpc-status-details-bin";

/** What a gRPC status says, with the service's own detail if it has one. */
export function errorFromStatus(
  status: Pick<StatusObject, "code" | "details" | "metadata">,
  endpoint: string,
): TenureError {
  const fault = detailOf(status.metadata);
  if (fault !== undefined) return fault;
  const code = faultCodeOf(status.code);
  // A stream that ends well is over all the same: the session opens another.
  if (status.code === 0) return broken(endpoint, "ended the session");
  if (code === "UNAVAILABLE" || code === "CANCELLED" || code === "INTERNAL") return broken(endpoint, status.details);
  return new TenureError({ code, reason: code, message: `${endpoint}: ${status.details}` });
}

function detailOf(metadata: Metadata | undefined): TenureError | undefined {
  const [bytes] = metadata?.get(detailsKey) ?? [];
  if (!(bytes instanceof Uint8Array)) return undefined;
  try {
    return errorFromFault(decodeStatusDetails(bytes));
  } catch {
    // Not ours: the code and text of the status must do.
    return undefined;
  }
}

function broken(endpoint: string, why: string): TenureError {
  return new TenureError({ code: "UNAVAILABLE", reason: "SESSION_BROKEN", message: `${endpoint}: ${why}` });
}
