import { Severity } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { stopFault } from "./boot-check.ts";
import type { Finding } from "./finding.ts";
import { toDoctorResponse } from "./to-proto.ts";

const finding = (id: string, severity: Finding["severity"]): Finding => ({
  id,
  severity,
  subject: "stream S",
  what: "is wrong",
  why: "it matters",
  fix: "set it",
});

describe("stopFault", () => {
  it("lets a service start with advice, and with what is unsafe only in development", () => {
    expect(stopFault([finding("a", "advice")], "production")).toBeUndefined();
    expect(stopFault([finding("a", "unsafe")], "development")).toBeUndefined();
    expect(stopFault([finding("a", "unsafe")], "production")).toBeDefined();
    expect(stopFault([finding("a", "fatal")], "development")).toBeDefined();
  });

  it("says the worst in one line and counts the others that stop", () => {
    const findings = [finding("server-version", "fatal"), finding("b", "unsafe"), finding("c", "advice")];
    expect(stopFault(findings, "production")).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "SERVER_VERSION",
      message: "stream S: is wrong; it matters; set it (and 1 more finding in the log)",
      details: { attributes: { findings: "server-version,b" } },
    });
    expect(stopFault(findings, "development")?.message).toBe("stream S: is wrong; it matters; set it");
  });

  it("calls a missing leader unavailable, because it may come back", () => {
    expect(stopFault([finding("jetstream-leaderless", "fatal")], "development")?.code).toBe("UNAVAILABLE");
  });
});

describe("toDoctorResponse", () => {
  it("carries every finding with its check, severity and instance", () => {
    const response = toDoctorResponse({
      findings: [finding("sync-policy", "unsafe")],
      passed: [{ id: "log-size", subject: "stream S", what: "is small" }],
      instance: "i-1",
      tookMs: 1234.5,
    });
    expect(response).toEqual({
      findings: [
        {
          check: "SYNC_POLICY",
          severity: Severity.UNSAFE,
          subject: "stream S",
          what: "is wrong",
          why: "it matters",
          fix: "set it",
          instance: "i-1",
        },
        {
          check: "LOG_SIZE",
          severity: Severity.OK,
          subject: "stream S",
          what: "is small",
          why: "",
          fix: "",
          instance: "i-1",
        },
      ],
      worst: Severity.UNSAFE,
      silentInstances: [],
      took: { seconds: 1n, nanos: 234_500_000 },
    });
  });

  it("is OK without findings", () => {
    expect(toDoctorResponse({ findings: [], passed: [], instance: "i", tookMs: 0 }).worst).toBe(Severity.OK);
  });
});
