import type {
  CandidateSelector,
  CandidateServiceWatchRequest,
  LeaseSelector,
  LeaseServiceWatchRequest,
} from "@tenure/contracts";
import type { LeaseRecord } from "@tenure/core";
import type { SeenCandidate } from "./change-set.ts";
import type { ReadModel } from "./read-model.ts";
import { candidateRecords, leaseRecords, type RecordKind } from "./record-kind.ts";
import { SharedEncoding } from "./shared-encoding.ts";
import { WatchStream } from "./watch-stream.ts";
import type { WatchContext } from "./watch-view.ts";

/** Bounds of watches. */
export interface WatchLimits {
  /** How many watches may be open at once. */
  readonly watchers: number;
  /** Batches that wait for a watcher; one that lags further is cut off. */
  readonly queuedPerWatcher: number;
}

/** The responses of a watch. Whoever stops reading before the end calls `return`, as `for await` does. */
export type WatchResponses = Required<
  Pick<AsyncIterableIterator<Uint8Array, undefined, undefined>, "next" | "return">
> &
  AsyncIterable<Uint8Array>;

/**
 * Serves watches from a read model, as the bytes of their responses. The same bytes go to every watcher who is shown the
 * same: whoever sends them must not write into them. A watcher that is too slow is cut off with WATCHER_TOO_SLOW, and
 * resumes from its last token.
 */
export class Watches {
  readonly #open = { count: 0 };
  readonly #leases: WatchContext<LeaseRecord, LeaseSelector>;
  readonly #candidates: WatchContext<SeenCandidate, CandidateSelector>;

  constructor(model: ReadModel, { queuedPerWatcher, watchers }: WatchLimits) {
    const contextOf = <Seen, Selector>(kind: RecordKind<Seen, Selector>): WatchContext<Seen, Selector> => ({
      model,
      kind,
      encoding: new SharedEncoding(kind, model.incarnationId),
      open: this.#open,
      mostWatchers: watchers,
      queuedPerWatcher,
    });
    this.#leases = contextOf(leaseRecords);
    this.#candidates = contextOf(candidateRecords);
  }

  /** How many watches are open. */
  get open(): number {
    return this.#open.count;
  }

  /** LeaseService.Watch: encoded LeaseServiceWatchResponse. */
  leases(request: LeaseServiceWatchRequest, signal: AbortSignal): WatchResponses {
    return new WatchStream(this.#leases, request, signal);
  }

  /** CandidateService.Watch: encoded CandidateServiceWatchResponse. */
  candidates(request: CandidateServiceWatchRequest, signal: AbortSignal): WatchResponses {
    return new WatchStream(this.#candidates, request, signal);
  }
}
