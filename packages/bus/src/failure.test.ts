import { Fault } from "@tenure/kernel";
import { describe, expect, test } from "vitest";
import { decodeFailure, encodeFailure } from "./failure.ts";

describe("failures on the wire", () => {
  test("come back as they were", () => {
    const fault = new Fault({
      code: "FAILED_PRECONDITION",
      reason: "LEASE_HELD",
      message: "lease billing/scheduler is held by b",
      details: { token: 2n ** 53n + 1n, applied: "NO" },
    });
    const decoded = decodeFailure("Echo.Say", encodeFailure("Echo.Say", fault, 1_000));
    expect(decoded).toMatchObject({ code: fault.code, reason: fault.reason, message: fault.message });
    expect(decoded.details).toEqual(fault.details);
  });

  test("that do not fit keep their code, reason and whether they were applied", () => {
    const message = "x".repeat(5_000);
    const fault = new Fault({ code: "ABORTED", reason: "CONFLICT", message, details: { applied: "UNKNOWN" } });
    const bytes = encodeFailure("Echo.Say", fault, 1_000);
    expect(bytes.byteLength).toBeLessThanOrEqual(1_000);
    const decoded = decodeFailure("Echo.Say", bytes);
    expect(decoded).toMatchObject({ code: "ABORTED", reason: "CONFLICT", details: { applied: "UNKNOWN" } });
    expect(decoded.message).toContain("the failure of Echo.Say is");
  });

  test("that are no failure are one all the same", () => {
    expect(decodeFailure("Echo.Say", Uint8Array.of(0xff, 0xff, 0xff))).toMatchObject({
      code: "INTERNAL",
      reason: "MALFORMED_MESSAGE",
      details: { applied: "UNKNOWN" },
    });
  });
});
