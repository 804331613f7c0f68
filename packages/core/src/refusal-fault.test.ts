import { Fault } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { limitName } from "./limits.ts";
import type { Refusal } from "./partition/reply.ts";
import { describeRefusal } from "./refusal-fault.ts";

const lease = "billing/scheduler";

const table: readonly (readonly [Refusal, string, string, string])[] = [
  [
    { kind: "held", lease, holder: "b", token: 41n, retryAfterMs: 3_100 },
    "FAILED_PRECONDITION",
    "LEASE_HELD",
    "lease billing/scheduler is held by b (token 41) for another 3.1s",
  ],
  [
    { kind: "held", lease, holder: "", token: 41n, retryAfterMs: 0 },
    "FAILED_PRECONDITION",
    "LEASE_HELD",
    "lease billing/scheduler has others waiting for it",
  ],
  [
    { kind: "tombstone", lease, token: 4n, retryAfterMs: 1_000 },
    "FAILED_PRECONDITION",
    "TOMBSTONE",
    "lease billing/scheduler was deleted or revoked, and its term (token 4) may act for another 1s",
  ],
  [
    { kind: "lockDelay", lease, retryAfterMs: 1_500 },
    "FAILED_PRECONDITION",
    "LOCK_DELAY",
    "lease billing/scheduler was not released; its lock delay lasts another 1.5s",
  ],
  [
    { kind: "coordinated", lease, retryAfterMs: undefined },
    "FAILED_PRECONDITION",
    "COORDINATED",
    "lease billing/scheduler has candidates that a coordinator chooses from; plain claims are not granted",
  ],
  [
    { kind: "coordinated", lease, retryAfterMs: 5_000 },
    "FAILED_PRECONDITION",
    "COORDINATED",
    "lease billing/scheduler has candidates that a coordinator chooses from; plain claims may be granted in 5s",
  ],
  [
    { kind: "recovering", retryAfterMs: 60_000 },
    "UNAVAILABLE",
    "RECOVERING",
    "nothing is granted for 1m after a restore",
  ],
  [
    { kind: "invalid", violations: [{ field: "units", rule: "must be 1", value: "2" }] },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "units must be 1 (got 2)",
  ],
  [
    {
      kind: "timingUnsafe",
      lease,
      violations: [{ inequality: 1, isRefused: true, message: "L is short", fields: { lease_duration: 9 } }],
    },
    "INVALID_ARGUMENT",
    "TIMING_UNSAFE",
    "timing for lease billing/scheduler is not safe: L is short",
  ],
  [
    { kind: "routingPartsDiffer", leases: ["a/b", "a/c"] },
    "INVALID_ARGUMENT",
    "ROUTING_PARTS_DIFFER",
    "leases a/b, a/c do not share their namespace and name up to ':', so they cannot be taken together",
  ],
  [{ kind: "leaseNotFound", lease }, "NOT_FOUND", "LEASE_NOT_FOUND", "lease billing/scheduler does not exist"],
  [
    { kind: "candidateNotFound", lease, candidate: "a" },
    "NOT_FOUND",
    "CANDIDATE_NOT_FOUND",
    "lease billing/scheduler has no candidate a",
  ],
  [
    { kind: "alreadyExists", lease, revision: 5n },
    "ALREADY_EXISTS",
    "ALREADY_EXISTS",
    "lease billing/scheduler already exists",
  ],
  [
    { kind: "alreadyExists", lease, candidate: "a", revision: 5n },
    "ALREADY_EXISTS",
    "ALREADY_EXISTS",
    "candidate a of lease billing/scheduler already exists",
  ],
  [
    { kind: "revisionConflict", lease, expected: 4n, revision: 5n },
    "ABORTED",
    "REVISION_CONFLICT",
    "lease billing/scheduler is at revision 5, not 4: read it again",
  ],
  [
    { kind: "uidConflict", lease },
    "ABORTED",
    "UID_CONFLICT",
    "lease billing/scheduler is not the one that was read: it was deleted or created anew",
  ],
  [
    { kind: "comparisonFailed", lease, key: "k", revision: 3n },
    "ABORTED",
    "COMPARISON_FAILED",
    "guarded key k of lease billing/scheduler is not as expected (revision 3)",
  ],
  [
    { kind: "notHolder", lease, token: 4n },
    "FAILED_PRECONDITION",
    "NOT_HOLDER",
    "no running term of lease billing/scheduler has token 4",
  ],
  [
    { kind: "fenced", lease, holder: "b", token: 9n },
    "FAILED_PRECONDITION",
    "FENCED",
    "a newer term of lease billing/scheduler has token 9",
  ],
  [
    { kind: "endOfTerm", lease, token: 9n, successor: "b" },
    "FAILED_PRECONDITION",
    "END_OF_TERM",
    "the term of lease billing/scheduler (token 9) is at its end; b follows",
  ],
  [
    { kind: "endOfTerm", lease, token: 9n, successor: "" },
    "FAILED_PRECONDITION",
    "END_OF_TERM",
    "the term of lease billing/scheduler (token 9) is at its end",
  ],
  [
    { kind: "termExpired", lease, token: 9n },
    "FAILED_PRECONDITION",
    "TERM_EXPIRED",
    "the term of lease billing/scheduler (token 9) is over",
  ],
  [
    { kind: "revoked", lease, token: 9n, reason: "misbehaves" },
    "FAILED_PRECONDITION",
    "REVOKED",
    "the term of lease billing/scheduler (token 9) was revoked: misbehaves",
  ],
  [
    { kind: "acceptTooLate", lease, token: 9n },
    "FAILED_PRECONDITION",
    "ACCEPT_TOO_LATE",
    "the window to accept lease billing/scheduler (token 9) has passed",
  ],
  [
    { kind: "notPending", lease, token: 9n },
    "FAILED_PRECONDITION",
    "NOT_PENDING",
    "no choice with token 9 is pending on lease billing/scheduler",
  ],
  [
    { kind: "notEligible", lease, component: "", version: "" },
    "FAILED_PRECONDITION",
    "NOT_ELIGIBLE",
    "a claimant without a component may not hold migration lock billing/scheduler",
  ],
  [
    { kind: "notEligible", lease, component: "ccm", version: "1.2.3" },
    "FAILED_PRECONDITION",
    "NOT_ELIGIBLE",
    "component ccm 1.2.3 may not hold migration lock billing/scheduler",
  ],
  [
    { kind: "configurationDisagrees", lease, configuration: "m" },
    "FAILED_PRECONDITION",
    "CONFIGURATION_DISAGREES",
    "the claimant's migration configuration is not m as in force on lock billing/scheduler",
  ],
  [
    { kind: "holdModeMismatch", lease, mode: "counted", wanted: "shared" },
    "FAILED_PRECONDITION",
    "HOLD_MODE_MISMATCH",
    "lease billing/scheduler is counted and cannot be held shared",
  ],
  [
    { kind: "exclusiveHoldRequired", lease },
    "FAILED_PRECONDITION",
    "EXCLUSIVE_HOLD_REQUIRED",
    "lease billing/scheduler is not held exclusively",
  ],
  [
    { kind: "candidateNotElectable", lease, candidate: "a", why: "cordoned" },
    "FAILED_PRECONDITION",
    "CANDIDATE_NOT_ELECTABLE",
    "candidate a of lease billing/scheduler cannot be elected: cordoned",
  ],
  [
    { kind: "immutable", lease, field: "strategy", why: "an operator set it" },
    "FAILED_PRECONDITION",
    "IMMUTABLE",
    "strategy of lease billing/scheduler cannot change: an operator set it",
  ],
  [
    { kind: "tooYoung", lease, retryAfterMs: 700 },
    "FAILED_PRECONDITION",
    "TOO_YOUNG",
    "the term of lease billing/scheduler may be ended in 700ms",
  ],
  [
    { kind: "notDue", lease, retryAfterMs: 700, needsProbe: false },
    "FAILED_PRECONDITION",
    "NOT_DUE",
    "nothing on lease billing/scheduler is due for another 700ms",
  ],
  [
    { kind: "principalMismatch", lease },
    "PERMISSION_DENIED",
    "PRINCIPAL_MISMATCH",
    "the term of lease billing/scheduler belongs to another principal",
  ],
  [
    { kind: "principalMismatch", lease, candidate: "a" },
    "PERMISSION_DENIED",
    "PRINCIPAL_MISMATCH",
    "candidate a of lease billing/scheduler belongs to another principal",
  ],
  [
    { kind: "renewKeyMismatch", lease },
    "PERMISSION_DENIED",
    "RENEW_KEY_MISMATCH",
    "the renew key is not the one of this term of lease billing/scheduler",
  ],
  [
    { kind: "attemptReused", number: 3n },
    "FAILED_PRECONDITION",
    "ATTEMPT_REUSED",
    "attempt 3 was used for another request: count on",
  ],
  [
    { kind: "waitEnded", leases: ["a/b"] },
    "FAILED_PRECONDITION",
    "WAIT_ENDED",
    "the wait for a/b ended before the lease became free",
  ],
  [
    { kind: "limitExceeded", limit: "leasesPerNamespace", value: 7 },
    "RESOURCE_EXHAUSTED",
    "LIMIT_EXCEEDED",
    "limit leases-per-namespace of 7 is reached",
  ],
];

describe("refusals as faults", () => {
  it.each(table.map(([refusal, ...rest]) => [refusal.kind, ...rest, refusal] as const))("%s is %s %s: %s", (...row) => {
    const [, code, reason, message, refusal] = row;
    const fault = new Fault(describeRefusal(refusal));
    expect([fault.code, fault.reason, fault.message]).toEqual([code, reason, message]);
    expect(fault.details.applied).toBe("NO");
  });

  it("say that an attempt which is too old may have happened", () => {
    const { code, details, message } = describeRefusal({ kind: "attemptTooOld", number: 3n, floor: 9n });
    expect(code).toBe("FAILED_PRECONDITION");
    expect(details?.applied).toBe("UNKNOWN");
    expect(message).toBe("attempt 3 is older than what is remembered (from 9): it may have happened");
  });

  it("carry what a program needs", () => {
    expect(describeRefusal({ kind: "held", lease, holder: "b", token: 41n, retryAfterMs: 5 }).details).toEqual({
      applied: "NO",
      lease,
      holder: "b",
      token: 41n,
      retryAfterMs: 5,
    });
    expect(describeRefusal({ kind: "limitExceeded", limit: "waitersPerLease", value: 2 }).details?.limit).toEqual({
      name: limitName("waitersPerLease"),
      value: 2n,
    });
  });
});
