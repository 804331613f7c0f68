import { TermEndReason } from "@tenure/contracts";
import type { TenureError } from "../errors.ts";
import type { TermEnd } from "./term-end.ts";
import type { TermEvent } from "./term-state.ts";

/**
 * What the store's final refusal of a renewal means. `ended`: another may hold the lease. `refused`: nobody can before
 * the term has run out, so the holder still has its time to finish (rules 15 and 20).
 */
export function eventOfRefusal(error: TenureError): TermEvent {
  switch (error.reason) {
    case "FENCED":
      return { kind: "ended", end: { kind: "preempted", how: "fenced", note: error.message } };
    case "NOT_HOLDER":
    case "TERM_EXPIRED":
    case "LEASE_NOT_FOUND":
      return { kind: "ended", end: { kind: "expired", note: error.message } };
    case "REVOKED":
      return { kind: "refused", end: { kind: "preempted", how: "revoked", note: error.message } };
    case "END_OF_TERM": {
      const { successor = "" } = error.details;
      return { kind: "refused", end: { kind: "end-of-term", successor, note: error.message } };
    }
    default:
      return { kind: "refused", end: { kind: "unreachable", cause: error } };
  }
}

/** The refusals of a guarded write that say something about the term, and not about the write. */
const termRefusals: ReadonlySet<string> = new Set(["FENCED", "NOT_HOLDER", "TERM_EXPIRED"]);

/** Whether the refusal of a write means that the term is over. */
export function isTermRefusal(error: TenureError): boolean {
  return termRefusals.has(error.reason);
}

/** Why a term ended, from the log's own words. */
export function endOfNews(reason: TermEndReason, note: string): TermEnd {
  switch (reason) {
    case TermEndReason.STOLEN:
      return { kind: "preempted", how: "stolen", note };
    case TermEndReason.REVOKED:
      return { kind: "preempted", how: "revoked", note };
    case TermEndReason.ENDED:
    case TermEndReason.PREEMPTED:
      return { kind: "end-of-term", successor: "", note };
    default:
      return { kind: "expired", note: note === "" ? "the store ended it" : note };
  }
}
