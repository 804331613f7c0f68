import {
  type AnswerView,
  type CandidateServiceGetRequest,
  type CandidateServiceGetResponse,
  candidateGetResponse,
  candidateOfRequest,
  type GuardServiceGetRequest,
  type GuardServiceGetResponse,
  type GuardServiceListRequest,
  type GuardServiceListResponse,
  guardGetResponse,
  guardListResponse,
  historyResponse,
  type LeaseServiceGetRequest,
  type LeaseServiceGetResponse,
  type LeaseServiceHistoryRequest,
  type LeaseServiceHistoryResponse,
  leaseGetResponse,
  leaseOfRequest,
  type ReadOptions,
} from "@tenure/contracts";
import type { LeaseKey } from "@tenure/core";
import { Fault } from "@tenure/kernel";

/** A read of what is kept under one lease. */
export interface ReadMethod<Request extends { readonly read: ReadOptions | undefined }, Response> {
  lease(request: Request): LeaseKey | Fault;
  respond(lease: LeaseKey, request: Request, view: AnswerView): Response | Fault;
}

const leaseGet: ReadMethod<LeaseServiceGetRequest, LeaseServiceGetResponse> = {
  lease: leaseOfRequest,
  respond: (lease, _, view) => leaseGetResponse(lease, view),
};

const leaseHistory: ReadMethod<LeaseServiceHistoryRequest, LeaseServiceHistoryResponse> = {
  lease: leaseOfRequest,
  respond: historyResponse,
};

const guardGet: ReadMethod<GuardServiceGetRequest, GuardServiceGetResponse> = {
  lease: leaseOfRequest,
  respond: (lease, { key }, view) => guardGetResponse(lease, key, view),
};

const guardList: ReadMethod<GuardServiceListRequest, GuardServiceListResponse> = {
  lease: leaseOfRequest,
  respond: guardListResponse,
};

const candidateGet: ReadMethod<CandidateServiceGetRequest, CandidateServiceGetResponse> = {
  lease(request) {
    const named = candidateOfRequest(request);
    return named instanceof Fault ? named : named.lease;
  },
  respond: (lease, { candidate }, view) => candidateGetResponse(lease, candidate?.name ?? "", view),
};

/** The reads of LeaseService by one lease. */
export const leaseReads = { get: leaseGet, history: leaseHistory };
/** The reads of GuardService. */
export const guardReads = { get: guardGet, list: guardList };
/** The reads of CandidateService by one candidate. */
export const candidateReads = { get: candidateGet };
