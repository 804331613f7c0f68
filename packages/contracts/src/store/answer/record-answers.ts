import type { LeaseKey, Reply } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import type {
  StoreServiceCollectResponse,
  StoreServicePingResponse,
  StoreServicePutMigrationResponse,
  StoreServiceRecordDecisionResponse,
} from "../../gen/tenure/store/v1/store.ts";
import type { CandidateServiceAckResponse, CandidateServiceWithdrawResponse } from "../../gen/tenure/v1/candidate.ts";
import type { Candidate } from "../../gen/tenure/v1/candidate_record.ts";
import type { GuardServiceDeleteResponse, GuardServicePutResponse } from "../../gen/tenure/v1/guard.ts";
import type { Lease } from "../../gen/tenure/v1/lease_record.ts";
import { candidateToWire } from "../record/candidate-to-wire.ts";
import { leaseToWire } from "../record/lease-to-wire.ts";
import { type AnswerView, answerOf, recordView, revisionOf } from "./answer.ts";

function shownLease(lease: LeaseKey, view: AnswerView): Lease | undefined {
  const record = view.state.leases.get(lease);
  return record && leaseToWire(record, recordView(view));
}

/**
 * The answer of every method that shows the lease it changed: LeaseService's Create, Update and Revoke, StoreService's
 * Elect, MarkEndOfTerm and PutStrategy. A dry run shows the lease as it is, which may be not at all.
 */
export function changedLeaseResponse(reply: Reply, view: AnswerView): { readonly lease: Lease | undefined } | Fault {
  return answerOf(reply, "changed", ({ lease }) => ({ lease: shownLease(lease, view) }));
}

/** The answer to LeaseService.Delete. */
export function deleteResponse(reply: Reply, view: AnswerView): { readonly lease: Lease | undefined } | Fault {
  return answerOf(reply, "deleted", ({ lease }) => ({ lease: shownLease(lease, view) }));
}

/** The answer to StoreService.PutMigration. */
export function putMigrationResponse(reply: Reply, view: AnswerView): StoreServicePutMigrationResponse | Fault {
  return answerOf(reply, "changed", (changed) => {
    return { lock: shownLease(changed.lease, view), revision: revisionOf(changed) };
  });
}

/** The answer to StoreService.RecordDecision. */
export function recordDecisionResponse(reply: Reply): StoreServiceRecordDecisionResponse | Fault {
  return answerOf(reply, "changed", (changed) => ({ revision: revisionOf(changed) }));
}

/** The answer to StoreService.Collect. */
export function collectResponse(reply: Reply): StoreServiceCollectResponse | Fault {
  return answerOf(reply, "collected", (collected) => {
    return { collected: collected.isCollected, revision: revisionOf(collected) };
  });
}

/** The answer to StoreService.Ping. */
export function pingResponse(reply: Reply): StoreServicePingResponse | Fault {
  return answerOf(reply, "pinged", (pinged) => {
    return { pingNumbers: pinged.pingNumbers, revision: revisionOf(pinged) };
  });
}

/** The answer to GuardService's Put and Transact. */
export function guardWriteResponse(reply: Reply): GuardServicePutResponse | Fault {
  return answerOf(reply, "guardedChanged", (changed) => ({ revision: revisionOf(changed) }));
}

/** The answer to GuardService.Delete. */
export function guardDeleteResponse(reply: Reply): GuardServiceDeleteResponse | Fault {
  return answerOf(reply, "guardedChanged", (changed) => {
    return { deleted: changed.existed, revision: revisionOf(changed) };
  });
}

/** The answer of every method of CandidateService that shows the candidate it changed. */
export function changedCandidateResponse(
  reply: Reply,
  { now, state }: AnswerView,
): { readonly candidate: Candidate | undefined } | Fault {
  return answerOf(reply, "candidateChanged", ({ candidate, lease }) => {
    const record = state.leases.get(lease)?.candidates?.get(candidate);
    return { candidate: record && candidateToWire(lease, record, now) };
  });
}

/** The answer to CandidateService.Withdraw. */
export function withdrawResponse(reply: Reply): CandidateServiceWithdrawResponse | Fault {
  return answerOf(reply, "candidateRemoved", (removed) => {
    return { withdrawn: removed.existed, revision: revisionOf(removed) };
  });
}

/** The answer to CandidateService.Ack. */
export function ackResponse(reply: Reply): CandidateServiceAckResponse | Fault {
  return answerOf(reply, "answered", (answered) => {
    const revision = revisionOf(answered);
    return { renewalRevisions: answered.isKnown.map((isKnown) => (isKnown ? revision : 0n)) };
  });
}
