import {
  CandidateServiceWatchRequest,
  CandidateServiceWatchResponse,
  LeaseServiceWatchRequest,
  LeaseServiceWatchResponse,
} from "@tenure/contracts";
import type { ReadModel } from "../read-model.ts";
import { Watches, type WatchLimits } from "../watches.ts";

const kinds = ["?", "present", "added", "changed", "removed", "renewed"];
const marks = ["?", "SYNCED", "RESYNC", "HEARTBEAT"];

/** A reader of a watch, which notes what it was shown as plain text. */
export class Watcher {
  readonly seen: string[] = [];
  readonly stop = new AbortController();
  resumeToken = new Uint8Array(0);
  revision = 0n;
  failure: unknown;
  readonly ended: Promise<void>;

  constructor(responses: AsyncIterable<Uint8Array>, decode: (bytes: Uint8Array) => Shown) {
    this.ended = this.#read(responses, decode);
  }

  async #read(responses: AsyncIterable<Uint8Array>, decode: (bytes: Uint8Array) => Shown): Promise<void> {
    try {
      for await (const bytes of responses) {
        const { events, position } = decode(bytes);
        this.seen.push(...events);
        if (position?.mark !== undefined) this.seen.push(marks[position.mark.kind] ?? "?");
        if ((position?.resumeToken.length ?? 0) > 0) this.resumeToken = new Uint8Array(position?.resumeToken ?? []);
        this.revision = position?.revision ?? 0n;
      }
    } catch (thrown) {
      this.failure = thrown;
    }
  }
}

interface Shown {
  readonly events: readonly string[];
  readonly position: LeaseServiceWatchResponse["position"];
}

/** Reads bytes of a watch of leases as text: `added a/b`. */
export function leasesShown(bytes: Uint8Array): Shown {
  const { events, position } = LeaseServiceWatchResponse.decode(bytes);
  const shown = events.map(({ kind, lease }) => `${kinds[kind]} ${lease?.key?.namespace}/${lease?.key?.name}`);
  return { events: shown, position };
}

/** Reads bytes of a watch of candidates as text, with the version that it says. */
export function candidatesShown(bytes: Uint8Array): Shown {
  const { events, position } = CandidateServiceWatchResponse.decode(bytes);
  const shown = events.map(
    ({ candidate, kind }) => `${kinds[kind]} ${candidate?.key?.name} ${candidate?.spec?.binaryVersion ?? "?"}`,
  );
  return { events: shown, position };
}

/** Watches leases. */
export function watchLeases(
  model: ReadModel,
  request: Parameters<typeof LeaseServiceWatchRequest.fromPartial>[0],
  limits: WatchLimits = { watchers: 100, queuedPerWatcher: 100 },
): Watcher {
  const stop = new AbortController();
  const responses = new Watches(model, limits).leases(LeaseServiceWatchRequest.fromPartial(request), stop.signal);
  return Object.assign(new Watcher(responses, leasesShown), { stop });
}

/** Watches candidates. */
export function watchCandidates(
  model: ReadModel,
  request: Parameters<typeof CandidateServiceWatchRequest.fromPartial>[0],
): Watcher {
  const stop = new AbortController();
  const watches = new Watches(model, { watchers: 100, queuedPerWatcher: 100 });
  const responses = watches.candidates(CandidateServiceWatchRequest.fromPartial(request), stop.signal);
  return Object.assign(new Watcher(responses, candidatesShown), { stop });
}
