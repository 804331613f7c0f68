import {
  beatResponse,
  decodeRenewals,
  mostHoldsPerCall,
  packedRenewals,
  type StoreServiceBeatRequest,
  type StoreServiceBeatResponse,
  type StoreServiceRenewRequest,
  type StoreServiceRenewResponse,
  storeRenewResponse,
  waitBeats,
} from "@tenure/contracts";
import type { Later } from "@tenure/kernel";
import { type Caller, RenewalCall } from "../replica/call.ts";
import { limitReached, ownerChanged } from "../replica/faults.ts";
import { type HandlerContext, unwrap } from "./handler-context.ts";

/** Renews terms of many clients of one partition in packed form, as its owner. */
export function renewPackedHere(
  context: HandlerContext,
  partition: number,
  request: StoreServiceRenewRequest,
  caller: Caller | AbortSignal,
): Later<StoreServiceRenewResponse> {
  const sources = unwrap(packedRenewals(request, partition));
  const requests = sources.flatMap(({ groups }) => groups);
  const holds = requests.reduce((count, { holdIds }) => count + holdIds.length, 0);
  if (holds > mostHoldsPerCall) {
    throw limitReached("renewals-per-call", mostHoldsPerCall, `${holds} renewals in one call are too many`);
  }
  const call = new RenewalCall(requests, (results, { state }) =>
    storeRenewResponse(partition, sources, results, state.lastSequence),
  );
  return context.replica.at(partition).submit(call, caller);
}

/** The partition that packed renewals are of, for callers that know no routes; 0 for none. */
export function partitionOfPacked(request: StoreServiceRenewRequest): number {
  for (const { renewals } of request.sources) {
    const [first] = decodeRenewals(renewals);
    if (first !== undefined) return first.partition;
  }
  return 0;
}

/** Notes beats of waits in the queues of this owner. */
export function beatHere(
  context: HandlerContext,
  partition: number,
  request: StoreServiceBeatRequest,
): StoreServiceBeatResponse {
  const replica = context.replica.at(partition);
  if (replica.ownEpoch === undefined) throw ownerChanged(partition);
  const beats = unwrap(waitBeats(request));
  return beatResponse(beats.map(({ beatNumber, waiterId }) => replica.beat(waiterId, beatNumber)));
}
