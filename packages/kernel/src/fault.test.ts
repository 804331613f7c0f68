import { describe, expect, it } from "vitest";
import { Fault, type FaultCode, faultCodeOf, faultCodes, invalid, toFault } from "./fault.ts";

describe("Fault", () => {
  it("keeps code, reason, details and cause", () => {
    const cause = new Error("socket closed");
    const fault = new Fault({
      code: "UNAVAILABLE",
      reason: "BUS_DISCONNECTED",
      message: "gone",
      details: { token: 2n ** 60n },
      cause,
    });
    expect(fault).toMatchObject({
      code: "UNAVAILABLE",
      reason: "BUS_DISCONNECTED",
      message: "gone",
      cause,
      retryable: true,
    });
    expect(fault.details.token).toBe(2n ** 60n);
  });

  it("knows every gRPC code by its number, and calls a stranger UNKNOWN", () => {
    for (const [name, number] of Object.entries(faultCodes)) expect(faultCodeOf(number)).toBe(name);
    expect(faultCodeOf(99)).toBe("UNKNOWN");
  });

  it("calls a programmer's mistake INTERNAL and keeps it as the cause", () => {
    const mistake = new TypeError("x is not a function");
    expect(toFault(mistake)).toMatchObject({ code: "INTERNAL", cause: mistake });
    expect(toFault("text").message).toBe("text");
  });

  it("lists every broken rule at once", () => {
    const fault = invalid([
      { field: "name", rule: "must not be empty", value: '""' },
      { field: "duration", rule: "must be at least 1s", value: "5ms" },
    ]);
    expect(fault.message).toBe('name must not be empty (got ""); duration must be at least 1s (got 5ms)');
    expect(fault.details.violations).toHaveLength(2);
  });

  it("is retryable when it may pass by itself, or when its sender says after how long", () => {
    const fault = (code: FaultCode, retryAfterMs?: number): Fault =>
      new Fault({ code, reason: "R", message: "m", details: retryAfterMs === undefined ? {} : { retryAfterMs } });
    const codes = Object.keys(faultCodes) as FaultCode[];
    expect(codes.filter((code) => fault(code).retryable)).toEqual(["ABORTED", "UNAVAILABLE"]);
    expect(fault("RESOURCE_EXHAUSTED", 100).retryable).toBe(true);
  });
});
