import type { Headers } from "@tenure/session/http2";
import type { GrpcStatus } from "./status-error.ts";

const unavailable = 14;
const unknown = 2;

/** Codes of answers that did not come from a gRPC server but from something before it, by gRPC's own rules. */
const codesByHttpStatus: Readonly<Record<number, number>> = { 400: 13, 401: 16, 403: 7, 404: 12 };

/** The status in the trailers of a stream, or in headers that are its trailers too; undefined if there is none. */
export function statusOf(headers: Headers): GrpcStatus | undefined {
  const code = headers["grpc-status"];
  if (typeof code !== "string") return undefined;
  const details = headers["grpc-status-details-bin"];
  return {
    code: /^\d+$/.test(code) ? Number(code) : unknown,
    message: decoded(String(headers["grpc-message"] ?? "")),
    details: typeof details === "string" ? Buffer.from(details, "base64") : undefined,
  };
}

/** What an answer means that is no gRPC answer at all; undefined if it may be one. */
export function refusalOf(headers: Headers): GrpcStatus | undefined {
  const status = Number(headers[":status"] ?? 200);
  if (status === 200) return undefined;
  const isPassing = status === 429 || status >= 500;
  return {
    code: isPassing ? unavailable : (codesByHttpStatus[status] ?? unknown),
    message: `it answered with HTTP status ${status}`,
  };
}

/** gRPC's messages are percent-encoded; one that is not decodable is shown as it came. */
function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
