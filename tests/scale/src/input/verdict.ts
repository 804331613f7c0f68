import {
  CandidateServiceAckResponse,
  faultFromFailure,
  LeaseServiceReleaseResponse,
  LeaseServiceRenewResponse,
} from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import type { Case } from "./cases.ts";
import { otherReasons } from "./rules.ts";

/** Stands for the answer to an entry of a list for which nothing was done, where that is no error. */
const leftAlone = new Fault({
  code: "FAILED_PRECONDITION",
  reason: "LEFT_ALONE",
  message: "nothing was done for the entry",
});

/** How a call refused, or one entry of it was refused; undefined if it did what was asked. */
export function refusalIn(method: string, answer: Uint8Array | Fault): Fault | undefined {
  if (answer instanceof Fault) return answer;
  switch (method) {
    case "LeaseService.Renew": {
      const [result] = LeaseServiceRenewResponse.decode(answer).results;
      return result?.failure === undefined ? undefined : faultFromFailure(result.failure);
    }
    case "LeaseService.Release": {
      const { released, revision } = LeaseServiceReleaseResponse.decode(answer);
      return released.every((isReleased) => !isReleased) && revision === 0n ? leftAlone : undefined;
    }
    case "CandidateService.Ack": {
      const { renewalRevisions } = CandidateServiceAckResponse.decode(answer);
      return renewalRevisions.every((revision) => revision === 0n) ? leftAlone : undefined;
    }
    default:
      return undefined;
  }
}

/** What is wrong with how a bad request was answered; undefined when it was refused as it must be. */
export function complaintAbout(bad: Case, refusal: Fault | undefined): string | undefined {
  if (refusal === undefined) return "was accepted";
  const told = `${refusal.code} ${refusal.reason}: ${refusal.message.slice(0, 200)}`;
  if (bad.flaw === "stale revision") {
    const isConflict = ["REVISION_CONFLICT", "COMPARISON_FAILED"].includes(refusal.reason);
    if (refusal.code !== "ABORTED" || !isConflict) return told;
    return refusal.details.revision === undefined ? "does not say the present revision" : undefined;
  }
  if (refusal.reason === "LIMIT_EXCEEDED" && refusal.details.limit === undefined) return "does not name the limit";
  if (otherReasons(bad.field).includes(refusal.reason)) return undefined;
  if (refusal.code !== "INVALID_ARGUMENT") return told;
  const violations = refusal.details.violations ?? [];
  const isNamed = violations.some(({ field, rule }) => isRelated(field, bad.field) && rule !== "");
  return isNamed ? undefined : `is not named: ${told}`;
}

/** Whether one path is the other, or contains it. */
function isRelated(left: string, right: string): boolean {
  const contains = (outer: string, inner: string) =>
    inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
  return contains(left, right) || contains(right, left);
}
