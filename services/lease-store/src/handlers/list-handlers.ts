import type { CallContext } from "@tenure/bus";
import {
  type CandidateServiceListRequest,
  type CandidateServiceListResponse,
  type LeaseServiceListRequest,
  type LeaseServiceListResponse,
  type Page,
  ReadConsistency,
  type ReadOptions,
} from "@tenure/contracts";
import { type ListScope, listCandidates as listCandidatesOf, listLeases as listLeasesOf } from "@tenure/reader";
import { ReadCall } from "../replica/call.ts";
import { type HandlerContext, passOn } from "./handler-context.ts";

/** Lists leases from this replica's own copy of every partition. */
export function listLeases(
  context: HandlerContext,
  request: LeaseServiceListRequest,
  scope: CallContext,
): Promise<LeaseServiceListResponse> {
  return listLeasesOf(context.model, request, listScope(context, scope));
}

/** Lists candidates from this replica's own copy of every partition. */
export function listCandidates(
  context: HandlerContext,
  request: CandidateServiceListRequest,
  scope: CallContext,
): Promise<CandidateServiceListResponse> {
  return listCandidatesOf(context.model, request, listScope(context, scope));
}

/** Answers as the owner that everything up to the page's revision has been read: what a linearizable list waits for. */
export function barrierHere(context: HandlerContext, partition: number, signal: AbortSignal): Promise<Page> {
  const call = new ReadCall(({ state }) => ({
    nextToken: "",
    revision: state.lastSequence,
    resumeToken: new Uint8Array(0),
  }));
  return context.replica.at(partition).submit(call, signal).promise;
}

/** A linearizable list shows at least what every owner had committed when it was asked. */
function listScope(context: HandlerContext, scope: CallContext): ListScope {
  return {
    signal: scope.signal,
    async barrier(partitions, read: ReadOptions | undefined) {
      if (read?.consistency !== ReadConsistency.LINEARIZABLE) return 0n;
      const revisions = await Promise.all(partitions.map((partition) => barrier(context, partition, scope)));
      return revisions.reduce((newest, revision) => (revision > newest ? revision : newest), 0n);
    },
  };
}

async function barrier(context: HandlerContext, partition: number, scope: CallContext): Promise<bigint> {
  const request = { selector: undefined, read: undefined, page: { size: 1, token: "" }, states: [] };
  const page = await context.calls.call(
    {
      partition,
      isRepeatable: true,
      local: (signal) => barrierHere(context, partition, signal),
      remote: async (route, options) =>
        (await context.clients.leases.list(request, passOn(scope, route, options))).page,
    },
    scope,
  );
  return page?.revision ?? 0n;
}
