import type { Refusal } from "@tenure/core";
import { faultCodes } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { failureFromFault } from "../../fault-codec.ts";
import { Applied, ErrorReason } from "../../gen/tenure/v1/error.ts";
import { refusalFault } from "./answer.ts";

const lease = "billing/scheduler";
const token = 41n;
const retryAfterMs = 3_100;

/** One refusal of each kind, so that a new kind does not compile without one. */
const refusals: { readonly [K in Refusal["kind"]]: Omit<Extract<Refusal, { readonly kind: K }>, "kind"> } = {
  held: { lease, holder: "b", token, retryAfterMs },
  tombstone: { lease, token, retryAfterMs },
  lockDelay: { lease, retryAfterMs },
  coordinated: { lease, retryAfterMs: undefined },
  recovering: { retryAfterMs },
  invalid: { violations: [{ field: "spec.mode", rule: "must be known", value: "9" }] },
  timingUnsafe: {
    lease,
    violations: [
      { inequality: 1, isRefused: true, message: "L 1s must be at least 2s", fields: { lease_duration: 1_000 } },
    ],
  },
  routingPartsDiffer: { leases: [lease, "billing/other"] },
  leaseNotFound: { lease },
  candidateNotFound: { lease, candidate: "pod-1" },
  alreadyExists: { lease, revision: 5n },
  revisionConflict: { lease, expected: 4n, revision: 5n },
  uidConflict: { lease },
  comparisonFailed: { lease, key: "k", revision: 5n },
  notHolder: { lease, token },
  fenced: { lease, holder: "b", token },
  endOfTerm: { lease, token, successor: "c" },
  termExpired: { lease, token },
  revoked: { lease, token, reason: "stuck" },
  acceptTooLate: { lease, token },
  notPending: { lease, token },
  notEligible: { lease, component: "kcm", version: "1.2.3" },
  configurationDisagrees: { lease, configuration: "m" },
  holdModeMismatch: { lease, mode: "counted", wanted: "shared" },
  exclusiveHoldRequired: { lease },
  candidateNotElectable: { lease, candidate: "pod-1", why: "cordoned" },
  immutable: { lease, field: "spec.mode", why: "the lease is held" },
  tooYoung: { lease, retryAfterMs },
  principalMismatch: { lease },
  renewKeyMismatch: { lease },
  attemptTooOld: { number: 3n, floor: 9n },
  attemptReused: { number: 3n },
  waitEnded: { leases: [lease] },
  limitExceeded: { limit: "candidatesPerLease", value: 1_000 },
  notDue: { lease, retryAfterMs, needsProbe: false },
};

describe("a refusal", () => {
  it.each(Object.entries(refusals))(
    "of kind %s has a code, a reason with a number, and a text in lower case",
    (kind, given) => {
      const fault = refusalFault({ kind, ...given } as Refusal);
      const { code, detail, message } = failureFromFault(fault);
      expect(code).toBe(faultCodes[fault.code]);
      expect(message).toMatch(/^[^A-Z]/);
      // Only the owner's own clock asks what is due; no caller is told.
      if (kind !== "notDue") expect(detail?.reason).not.toBe(ErrorReason.UNSPECIFIED);
      // An attempt whose outcome is forgotten is the one refusal that does not know whether it happened.
      expect(detail?.applied).toBe(kind === "attemptTooOld" ? Applied.UNKNOWN : Applied.NO);
      if ("lease" in given) expect(detail?.lease).toBe(lease);
      if ("token" in given) expect(detail?.token).toBe(token);
      if ("retryAfterMs" in given && given.retryAfterMs !== undefined)
        expect(detail?.retryAfter?.nanos).toBe(100_000_000);
    },
  );

  it("of a held lease says who holds it, with which token and for how long", () => {
    expect(refusalFault({ kind: "held", ...refusals.held })).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "LEASE_HELD",
      message: "lease billing/scheduler is held by b (token 41) for another 3.1s",
      details: { lease, holder: "b", token, retryAfterMs, applied: "NO" },
    });
  });
});
