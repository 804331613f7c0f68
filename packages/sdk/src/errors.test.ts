import { encodeStatusDetails } from "@tenure/contracts";
import { Fault, invalid } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { abortedError, errorFromFault, isTenureError, TenureError, toTenureError } from "./errors.ts";
import { errorFromStatus } from "./grpc/status-error.ts";

describe("the SDK's error", () => {
  it("is a fault's code, reason, message, retry rule and details", () => {
    const details = { holder: "b", token: 41n, retryAfterMs: 300, applied: "NO" } as const;
    const fault = new Fault({ code: "FAILED_PRECONDITION", reason: "LEASE_HELD", message: "held", details });
    const error = errorFromFault(fault);
    expect(error).toMatchObject({
      name: "TenureError",
      code: "FAILED_PRECONDITION",
      reason: "LEASE_HELD",
      message: "held",
      retryable: true,
      applied: "NO",
      details: { holder: "b", token: 41n, retryAfterMs: 300 },
    });
    expect(error.details).not.toHaveProperty("applied");
    expect(toTenureError(error)).toBe(error);
  });

  it("names the first broken rule by itself", () => {
    const error = errorFromFault(invalid([{ field: "a.b", rule: "must be c", value: "d" }]));
    expect(error.details).toMatchObject({ field: "a.b", rule: "must be c", value: "d" });
    expect(error.retryable).toBe(false);
  });

  it("is recognised without its class, and nothing else is", () => {
    const error = new TenureError({ code: "UNAVAILABLE", reason: "UNREACHABLE", message: "x" });
    expect(error.retryable).toBe(true);
    expect(isTenureError(error)).toBe(true);
    expect(isTenureError(new Error("x"))).toBe(false);
    expect(isTenureError({ name: "TenureError" })).toBe(false);
  });

  it("keeps what was thrown as its cause", () => {
    const cause = new TypeError("oops");
    expect(toTenureError(cause)).toMatchObject({ code: "INTERNAL", message: "oops", cause });
    const stop = new AbortController();
    stop.abort(cause);
    expect(abortedError(stop.signal, "it")).toMatchObject({ code: "CANCELLED", cause });
    const own = new TenureError({ code: "CANCELLED", reason: "TERM_OVER", message: "over" });
    const other = new AbortController();
    other.abort(own);
    expect(abortedError(other.signal, "it")).toBe(own);
  });
});

describe("a gRPC status", () => {
  const status = (code: number, message: string, details?: Uint8Array) => ({ code, message, details });

  it("with our detail is that fault", () => {
    const details = { limit: { name: "streams-per-connection", value: 100n } };
    const fault = new Fault({ code: "RESOURCE_EXHAUSTED", reason: "LIMIT_EXCEEDED", message: "full", details });
    expect(errorFromStatus(status(8, "full", encodeStatusDetails(fault)), "x:1")).toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      reason: "LIMIT_EXCEEDED",
      details,
    });
  });

  it("without it is its code; what breaks a stream is UNAVAILABLE", () => {
    expect(errorFromStatus(status(16, "no"), "x:1")).toMatchObject({ code: "UNAUTHENTICATED", message: "x:1: no" });
    for (const code of [0, 1, 13, 14]) {
      expect(errorFromStatus(status(code, "gone"), "x:1")).toMatchObject({ code: "UNAVAILABLE", retryable: true });
    }
    expect(errorFromStatus(status(14, "gone", Buffer.from([0xff, 0xff])), "x:1")).toMatchObject({
      reason: "SESSION_BROKEN",
    });
  });
});
