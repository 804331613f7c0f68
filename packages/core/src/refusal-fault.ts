import { type FaultCode, type FaultDetails, type FaultInput, formatDuration } from "@tenure/kernel";
import { limitName } from "./limits.ts";
import type { Refusal } from "./partition/reply.ts";

const notApplied = { applied: "NO" } as const;

/**
 * A refusal as the fault that crosses process boundaries: code, reason, and a text that names the thing and the
 * numbers. The one place that says which code a refusal has.
 */
export function describeRefusal(refusal: Refusal): FaultInput {
  const lease = "lease" in refusal && refusal.lease !== "" ? refusal.lease : undefined;
  const { code, message, reason = upperSnake(refusal.kind), ...more } = textOf(refusal);
  return {
    code,
    reason,
    message,
    details: { ...notApplied, ...(lease === undefined ? undefined : { lease }), ...more },
  };
}

type Text = { readonly code: FaultCode; readonly message: string; readonly reason?: string } & Omit<
  FaultDetails,
  "lease"
>;

function upperSnake(kind: string): string {
  return kind.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function text(code: FaultCode, message: string, more: Omit<FaultDetails, "lease"> & { reason?: string } = {}): Text {
  return { code, message, ...more };
}

const precondition = "FAILED_PRECONDITION";

function textOf(refusal: Refusal): Text {
  switch (refusal.kind) {
    case "held": {
      const { holder, lease, retryAfterMs, token } = refusal;
      const who = holder === "" ? "has others waiting for it" : `is held by ${holder} (token ${token})`;
      const message = `lease ${lease} ${who}${retryAfterMs > 0 ? ` for another ${show(retryAfterMs)}` : ""}`;
      return text(precondition, message, { reason: "LEASE_HELD", holder, token, retryAfterMs });
    }
    case "tombstone": {
      const { lease, retryAfterMs, token } = refusal;
      const message = `lease ${lease} was deleted or revoked, and its term (token ${token}) may act for another ${show(retryAfterMs)}`;
      return text(precondition, message, { token, retryAfterMs });
    }
    case "lockDelay":
      return text(
        precondition,
        `lease ${refusal.lease} was not released; its lock delay lasts another ${show(refusal.retryAfterMs)}`,
        {
          retryAfterMs: refusal.retryAfterMs,
        },
      );
    case "coordinated":
      return coordinatedText(refusal);
    case "recovering":
      return text("UNAVAILABLE", `nothing is granted for ${show(refusal.retryAfterMs)} after a restore`, {
        retryAfterMs: refusal.retryAfterMs,
      });
    case "leaseNotFound":
      return text("NOT_FOUND", `lease ${refusal.lease} does not exist`);
    case "candidateNotFound":
      return text("NOT_FOUND", `lease ${refusal.lease} has no candidate ${refusal.candidate}`);
    case "alreadyExists":
      return text("ALREADY_EXISTS", `${nameOfExisting(refusal)} already exists`, { revision: refusal.revision });
    case "revisionConflict": {
      const { expected, lease, revision } = refusal;
      return text("ABORTED", `lease ${lease} is at revision ${revision}, not ${expected}: read it again`, { revision });
    }
    case "uidConflict":
      return text("ABORTED", `lease ${refusal.lease} is not the one that was read: it was deleted or created anew`);
    case "comparisonFailed": {
      const { key, lease, revision } = refusal;
      return text("ABORTED", `guarded key ${key} of lease ${lease} is not as expected (revision ${revision})`, {
        revision,
      });
    }
    default:
      return termText(refusal);
  }
}

type Early =
  | "held"
  | "tombstone"
  | "lockDelay"
  | "coordinated"
  | "recovering"
  | "leaseNotFound"
  | "candidateNotFound"
  | "alreadyExists"
  | "revisionConflict"
  | "uidConflict"
  | "comparisonFailed";

function termText(refusal: Exclude<Refusal, { kind: Early }>): Text {
  switch (refusal.kind) {
    case "notHolder":
      return text(precondition, `no running term of lease ${refusal.lease} has token ${refusal.token}`, {
        token: refusal.token,
      });
    case "fenced": {
      const { holder, lease, token } = refusal;
      return text(precondition, `a newer term of lease ${lease} has token ${token}`, { holder, token });
    }
    case "endOfTerm": {
      const { lease, successor, token } = refusal;
      const who = successor === "" ? "" : `; ${successor} follows`;
      return text(precondition, `the term of lease ${lease} (token ${token}) is at its end${who}`, {
        token,
        successor,
      });
    }
    case "termExpired":
      return text(precondition, `the term of lease ${refusal.lease} (token ${refusal.token}) is over`, {
        token: refusal.token,
      });
    case "revoked":
      return text(
        precondition,
        `the term of lease ${refusal.lease} (token ${refusal.token}) was revoked: ${refusal.reason}`,
        {
          token: refusal.token,
        },
      );
    case "acceptTooLate":
      return text(precondition, `the window to accept lease ${refusal.lease} (token ${refusal.token}) has passed`, {
        token: refusal.token,
      });
    case "notPending":
      return text(precondition, `no choice with token ${refusal.token} is pending on lease ${refusal.lease}`, {
        token: refusal.token,
      });
    case "exclusiveHoldRequired":
      return text(precondition, `lease ${refusal.lease} is not held exclusively`);
    case "holdModeMismatch":
      return text(precondition, `lease ${refusal.lease} is ${refusal.mode} and cannot be held ${refusal.wanted}`);
    case "tooYoung":
      return text(precondition, `the term of lease ${refusal.lease} may be ended in ${show(refusal.retryAfterMs)}`, {
        retryAfterMs: refusal.retryAfterMs,
      });
    case "notDue":
      return text(precondition, `nothing on lease ${refusal.lease} is due for another ${show(refusal.retryAfterMs)}`, {
        retryAfterMs: refusal.retryAfterMs,
      });
    default:
      return callerText(refusal);
  }
}

type Middle =
  | "notHolder"
  | "fenced"
  | "endOfTerm"
  | "termExpired"
  | "revoked"
  | "acceptTooLate"
  | "notPending"
  | "exclusiveHoldRequired"
  | "holdModeMismatch"
  | "tooYoung"
  | "notDue";

function callerText(refusal: Exclude<Refusal, { kind: Early | Middle }>): Text {
  switch (refusal.kind) {
    case "invalid": {
      const message = refusal.violations.map(({ field, rule, value }) => `${field} ${rule} (got ${value})`).join("; ");
      return text("INVALID_ARGUMENT", message, { reason: "INVALID_FIELD", violations: refusal.violations });
    }
    case "timingUnsafe": {
      const rules = refusal.violations.map(({ message }) => message).join("; ");
      const violations = refusal.violations.flatMap(({ fields, message }) =>
        Object.entries(fields).map(([field, valueMs]) => ({ field, rule: message, value: `${valueMs}ms` })),
      );
      return text("INVALID_ARGUMENT", `timing for lease ${refusal.lease} is not safe: ${rules}`, { violations });
    }
    case "routingPartsDiffer": {
      const message = `leases ${refusal.leases.join(", ")} do not share their namespace and name up to ':', so they cannot be taken together`;
      return text("INVALID_ARGUMENT", message);
    }
    case "notEligible": {
      const { component, lease, version } = refusal;
      const who = component === "" ? "a claimant without a component" : `component ${component} ${version}`.trimEnd();
      return text(precondition, `${who} may not hold migration lock ${lease}`);
    }
    case "configurationDisagrees":
      return text(
        precondition,
        `the claimant's migration configuration is not ${refusal.configuration} as in force on lock ${refusal.lease}`,
      );
    case "candidateNotElectable":
      return text(
        precondition,
        `candidate ${refusal.candidate} of lease ${refusal.lease} cannot be elected: ${refusal.why}`,
      );
    case "immutable":
      return text(precondition, `${refusal.field} of lease ${refusal.lease} cannot change: ${refusal.why}`);
    case "principalMismatch": {
      const what = refusal.candidate === undefined ? "the term" : `candidate ${refusal.candidate}`;
      return text("PERMISSION_DENIED", `${what} of lease ${refusal.lease} belongs to another principal`);
    }
    case "renewKeyMismatch":
      return text("PERMISSION_DENIED", `the renew key is not the one of this term of lease ${refusal.lease}`);
    case "attemptTooOld": {
      const message = `attempt ${refusal.number} is older than what is remembered (from ${refusal.floor}): it may have happened`;
      return text(precondition, message, { applied: "UNKNOWN" });
    }
    case "attemptReused":
      return text(precondition, `attempt ${refusal.number} was used for another request: count on`);
    case "waitEnded":
      return text(precondition, `the wait for ${refusal.leases.join(", ")} ended before the lease became free`);
    case "limitExceeded": {
      const name = limitName(refusal.limit);
      const limit = { name, value: BigInt(refusal.value) };
      return text("RESOURCE_EXHAUSTED", `limit ${name} of ${refusal.value} is reached`, { limit });
    }
  }
}

function coordinatedText({ lease, retryAfterMs }: Extract<Refusal, { kind: "coordinated" }>): Text {
  const when = retryAfterMs === undefined ? "are not granted" : `may be granted in ${show(retryAfterMs)}`;
  const more = retryAfterMs === undefined ? {} : { retryAfterMs };
  return text(
    precondition,
    `lease ${lease} has candidates that a coordinator chooses from; plain claims ${when}`,
    more,
  );
}

function nameOfExisting({ candidate, lease }: Extract<Refusal, { kind: "alreadyExists" }>): string {
  return candidate === undefined ? `lease ${lease}` : `candidate ${candidate} of lease ${lease}`;
}

function show(durationMs: number): string {
  return formatDuration(Math.ceil(durationMs));
}
