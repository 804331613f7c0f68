import { CandidateServiceWatchRequest, LeaseServiceWatchRequest } from "@tenure/contracts";
import type { Watches } from "@tenure/reader";
import { decodeRequest } from "../front/decode-request.ts";

/** Serves a watch by its request's bytes; throws INVALID_ARGUMENT when they are none. */
export type WatchMethod = (watches: Watches, request: Uint8Array, signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** The watches that are served here, by full method. */
export const watchMethods: ReadonlyMap<string, WatchMethod> = new Map<string, WatchMethod>([
  [
    "LeaseService.Watch",
    (watches, request, signal) => watches.leases(decodeRequest(LeaseServiceWatchRequest, request), signal),
  ],
  [
    "CandidateService.Watch",
    (watches, request, signal) => watches.candidates(decodeRequest(CandidateServiceWatchRequest, request), signal),
  ],
]);
