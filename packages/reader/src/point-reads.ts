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
  leaseOfGuardedKey,
  leaseOfGuardedKeys,
  leaseOfRequest,
  type ReadOptions,
} from "@tenure/contracts";
import { type LeaseKey, partitionOf } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { type ReadModel, reachIn } from "./read-model.ts";
import { unwrap } from "./record-kind.ts";

/** A read of what is kept under one lease. */
export interface PointRead<Request extends { readonly read: ReadOptions | undefined }, Response> {
  lease(request: Request): LeaseKey | Fault;
  respond(lease: LeaseKey, request: Request, view: AnswerView): Response | Fault;
}

/** How long a replica that is behind the client's revision may take to catch up. */
const catchUpMs = 1_000;

/** Answers a plain read from a read model that has applied the client's highest seen revision. */
export async function readPlain<Request extends { readonly read: ReadOptions | undefined }, Response>(
  model: ReadModel,
  method: PointRead<Request, Response>,
  request: Request,
  signal: AbortSignal,
): Promise<Response> {
  const lease = unwrap(method.lease(request));
  const partition = partitionOf(lease, model.partitions);
  await reachIn(model, partition, request.read?.minRevision ?? 0n, catchUpMs, signal);
  return model.view(partition, (state) => unwrap(method.respond(lease, request, { state, now: model.clock.now() })));
}

const leaseGet: PointRead<LeaseServiceGetRequest, LeaseServiceGetResponse> = {
  lease: leaseOfRequest,
  respond: (lease, _, view) => leaseGetResponse(lease, view),
};

const leaseHistory: PointRead<LeaseServiceHistoryRequest, LeaseServiceHistoryResponse> = {
  lease: leaseOfRequest,
  respond: historyResponse,
};

const guardGet: PointRead<GuardServiceGetRequest, GuardServiceGetResponse> = {
  lease: leaseOfGuardedKey,
  respond: (lease, { key }, view) => guardGetResponse(lease, key, view),
};

const guardList: PointRead<GuardServiceListRequest, GuardServiceListResponse> = {
  lease: leaseOfGuardedKeys,
  respond: guardListResponse,
};

const candidateGet: PointRead<CandidateServiceGetRequest, CandidateServiceGetResponse> = {
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
