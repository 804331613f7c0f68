import { type Applied, Fault, formatDuration } from "@tenure/kernel";

/** The failures that the bus itself makes; each is named by its reason, and says whether a change may have happened. */

/** Nobody serves the subject: the NATS server says so at once. */
export function noResponder(method: string, subject: string): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "NO_RESPONDER",
    message: `nobody serves ${method} on ${subject} at the moment: retry, or check that the service runs`,
    details: { applied: "NO", attributes: { method, subject } },
  });
}

/** The connection to NATS is down: `NO` when nothing was sent, `UNKNOWN` when the call was under way. */
export function busDisconnected(what: string, applied: Applied): Fault {
  const effect = applied === "NO" ? "it was not sent" : "its outcome is unknown";
  return new Fault({
    code: "UNAVAILABLE",
    reason: "BUS_DISCONNECTED",
    message: `the connection to NATS is down: ${what} failed and ${effect}`,
    details: { applied },
  });
}

/** The bus was drained or closed by this process. */
export function busClosed(what: string, applied: Applied): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "BUS_CLOSED",
    message: `the bus of this process is closed: ${what} failed`,
    details: { applied },
  });
}

/** The caller's deadline passed; nobody knows whether the handler finished. */
export function deadlineExceeded(method: string, deadlineMs: number, applied: Applied = "UNKNOWN"): Fault {
  return new Fault({
    code: "DEADLINE_EXCEEDED",
    reason: "DEADLINE_EXCEEDED",
    message: `${method} did not finish within its deadline of ${formatDuration(Math.max(Math.round(deadlineMs), 0))}`,
    details: { applied, attributes: { method } },
  });
}

/** The caller gave up. */
export function cancelled(method: string, applied: Applied, cause?: unknown): Fault {
  return new Fault({
    code: "CANCELLED",
    reason: "CANCELLED",
    message: `${method} was cancelled by its caller`,
    details: { applied, attributes: { method } },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The message, with its headers, is larger than the NATS server takes. */
export function payloadTooLarge(what: string, sizeBytes: number, limitBytes: number, applied: Applied): Fault {
  return new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: "PAYLOAD_TOO_LARGE",
    message: `${what} is ${sizeBytes} bytes, over the limit of ${limitBytes} bytes (max_payload of the NATS server): send less at once`,
    details: {
      applied,
      limit: { name: "max_payload", value: BigInt(limitBytes) },
      attributes: { what, sizeBytes: String(sizeBytes) },
    },
  });
}

/** A server refuses calls beyond its bound rather than let them wait without one. */
export function tooManyCalls(method: string, limit: number): Fault {
  return new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: "TOO_MANY_CALLS",
    message: `the server that got ${method} already runs ${limit} calls, its limit: retry later`,
    details: { applied: "NO", limit: { name: "running calls", value: BigInt(limit) } },
  });
}

/** A caller refuses itself beyond its bound of calls under way. */
export function tooManyPendingCalls(method: string, limit: number): Fault {
  return new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: "TOO_MANY_PENDING_CALLS",
    message: `this process already waits for ${limit} calls, its limit: ${method} was not sent`,
    details: { applied: "NO", limit: { name: "pending calls", value: BigInt(limit) } },
  });
}

/** The server is going away; another instance may serve the retry. */
export function serverStopping(method: string): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "SERVER_STOPPING",
    message: `the server of ${method} is stopping: retry`,
    details: { applied: "UNKNOWN", attributes: { method } },
  });
}

/** Bytes that are not the message they should be. */
export function malformed(what: string, side: "request" | "response", cause?: unknown): Fault {
  const isRequest = side === "request";
  return new Fault({
    code: isRequest ? "INVALID_ARGUMENT" : "INTERNAL",
    reason: "MALFORMED_MESSAGE",
    message: `the bytes of ${what} are not its ${side} message`,
    details: { applied: isRequest ? "NO" : "UNKNOWN" },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** What a caller learns of a handler's own mistake: where to look, and nothing of its insides. */
export function handlerFailed(method: string, instance: string): Fault {
  return new Fault({
    code: "INTERNAL",
    reason: "INTERNAL",
    message: `the handler of ${method} failed: see the log of instance ${instance}`,
    details: { applied: "UNKNOWN", attributes: { method, instance } },
  });
}

/** Messages of a stream were lost between the server and this process. */
export function streamGap(method: string, expected: number, received: number): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "STREAM_GAP",
    message: `the stream of ${method} lost messages: expected number ${expected}, got ${received}: open it again`,
    details: { attributes: { method } },
  });
}

/** The other side of a stream has not been heard for too long. */
export function streamSilent(method: string, side: "server" | "caller", silentMs: number): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "STREAM_SILENT",
    message: `the ${side} of the stream of ${method} was silent for ${formatDuration(Math.round(silentMs))}`,
    details: { attributes: { method } },
  });
}

/** The server sent what the protocol of streams does not allow. */
export function streamBroken(method: string, why: string): Fault {
  return new Fault({
    code: "INTERNAL",
    reason: "STREAM_BROKEN",
    message: `the server broke the protocol of the stream of ${method}: ${why}`,
    details: { attributes: { method } },
  });
}

/** The NATS user of this process may not use a subject. */
export function natsPermissionDenied(operation: string, subject: string): Fault {
  return new Fault({
    code: "PERMISSION_DENIED",
    reason: "NATS_PERMISSION_DENIED",
    message: `the NATS user of this process may not ${operation} ${subject}: correct its permissions on the NATS server`,
    details: { applied: "NO", attributes: { operation, subject } },
  });
}
