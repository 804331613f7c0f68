import type { MessageCodec } from "@tenure/bus";
import {
  CandidateServiceGetRequest,
  CandidateServiceGetResponse,
  CandidateServiceListRequest,
  CandidateServiceListResponse,
  GuardServiceGetRequest,
  GuardServiceGetResponse,
  GuardServiceListRequest,
  GuardServiceListResponse,
  LeaseServiceGetRequest,
  LeaseServiceGetResponse,
  LeaseServiceHistoryRequest,
  LeaseServiceHistoryResponse,
  LeaseServiceListRequest,
  LeaseServiceListResponse,
  type PageRequest,
  ReadConsistency,
  type ReadOptions,
} from "@tenure/contracts";
import {
  candidateReads,
  guardReads,
  leaseReads,
  listCandidates,
  listLeases,
  type PointRead,
  type ReadModel,
  readPlain,
} from "@tenure/reader";
import { decodeRequest } from "../front/decode-request.ts";

/** Bounds one read. */
interface Scope {
  readonly signal: AbortSignal;
}

/** Answers a read from the model, in bytes; undefined when it is the owner's to answer. */
export type PlainRead = (model: ReadModel, request: Uint8Array, scope: Scope) => Promise<Uint8Array> | undefined;

interface Readable {
  readonly read: ReadOptions | undefined;
  readonly page?: PageRequest | undefined;
}

/** The reads that are answered here, by full method. */
export const plainReads: ReadonlyMap<string, PlainRead> = new Map<string, PlainRead>([
  ["LeaseService.Get", point(leaseReads.get, LeaseServiceGetRequest, LeaseServiceGetResponse)],
  ["LeaseService.History", point(leaseReads.history, LeaseServiceHistoryRequest, LeaseServiceHistoryResponse)],
  ["GuardService.Get", point(guardReads.get, GuardServiceGetRequest, GuardServiceGetResponse)],
  ["GuardService.List", point(guardReads.list, GuardServiceListRequest, GuardServiceListResponse)],
  ["CandidateService.Get", point(candidateReads.get, CandidateServiceGetRequest, CandidateServiceGetResponse)],
  ["LeaseService.List", plain(LeaseServiceListRequest, LeaseServiceListResponse, listLeases)],
  ["CandidateService.List", plain(CandidateServiceListRequest, CandidateServiceListResponse, listCandidates)],
]);

function point<Request extends Readable, Response>(
  method: PointRead<Request, Response>,
  requests: MessageCodec<Request>,
  responses: MessageCodec<Response>,
): PlainRead {
  return plain(requests, responses, (model, request, { signal }) => readPlain(model, method, request, signal));
}

function plain<Request extends Readable, Response>(
  requests: MessageCodec<Request>,
  responses: MessageCodec<Response>,
  answer: (model: ReadModel, request: Request, scope: Scope) => Promise<Response>,
): PlainRead {
  return (model, bytes, scope) => {
    const request = decodeRequest(requests, bytes);
    return isOwners(request) ? undefined : encoded(responses, answer(model, request, scope));
  };
}

/** Only an owner can say what is newest. The later pages of a list show what the first did, so anyone can. */
function isOwners({ page, read }: Readable): boolean {
  return read?.consistency === ReadConsistency.LINEARIZABLE && (page?.token ?? "") === "";
}

async function encoded<Response>(codec: MessageCodec<Response>, answer: Promise<Response>): Promise<Uint8Array> {
  return codec.encode(await answer).finish();
}
