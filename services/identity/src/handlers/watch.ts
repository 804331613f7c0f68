import type { CallContext } from "@tenure/bus";
import {
  IdentityChange,
  type IdentityEvent,
  type IdentityServiceWatchRequest,
  IdentityServiceWatchResponse,
  WatchMarkKind,
} from "@tenure/contracts";
import { BoundedQueue, type Timer } from "@tenure/kernel";
import {
  beginsAnew,
  heartbeatOf,
  markAt,
  type OpenWatches,
  replicaBehind,
  takePlace,
  watcherTooSlow,
} from "@tenure/reader";
import type { DirectoryEvent } from "../directory/directory.ts";
import { identityToWire, livenessOf } from "../record/identity-to-wire.ts";
import { catchUpMs, type IdentityContext } from "./identity-context.ts";
import { type IdentitySelection, identitySelection } from "./selection.ts";

const changes: Readonly<Record<DirectoryEvent["change"], IdentityChange>> = {
  joined: IdentityChange.JOINED,
  live: IdentityChange.LIVE,
  silent: IdentityChange.SILENT,
  left: IdentityChange.LEFT,
  collected: IdentityChange.COLLECTED,
  changed: IdentityChange.CHANGED,
};

/** Events of one response: about a hundred kilobytes. */
const mostEvents = 200;

/**
 * Follows identities: the present state, a SYNCED mark, then what happens. Silence is each replica's own sight and not
 * in the log, so a watch is not resumed but begun anew, and says so by a RESYNC mark.
 */
export async function* watch(
  context: IdentityContext,
  open: OpenWatches,
  { options, selector }: IdentityServiceWatchRequest,
  { signal }: CallContext,
): AsyncGenerator<IdentityServiceWatchResponse, void, undefined> {
  const { directory, queuedPerWatcher, reader, watchers } = context;
  using _ = takePlace(open, watchers);
  const selection = identitySelection(selector);
  const heartbeatMs = heartbeatOf(options);
  const isAnew = beginsAnew(options);
  await reader.hurry();
  await reader.hub.reach(options?.minRevision ?? 0n, catchUpMs, signal);
  if (!reader.isReady) throw replicaBehind("the log is being read");
  const queue = new BoundedQueue<IdentityEvent | "beat">(queuedPerWatcher);
  const watching = new Watching(context, selection, queue, heartbeatMs);
  const unfollow = directory.follow((event) => watching.take(event));
  // In the same step as the listening, so that nothing is told twice or missed.
  const state = options?.changesOnly === true ? [] : [...present(context, selection)];
  const onAbort = () => queue.fail(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (isAnew) yield marked(WatchMarkKind.RESYNC, reader.revision);
    yield* state;
    yield marked(WatchMarkKind.SYNCED, reader.revision);
    yield* watching.responses();
  } finally {
    unfollow();
    watching.stop();
    signal.removeEventListener("abort", onAbort);
  }
}

/** What one watcher is told after the present state. */
class Watching {
  readonly #context: IdentityContext;
  readonly #selection: IdentitySelection;
  readonly #queue: BoundedQueue<IdentityEvent | "beat">;
  readonly #heartbeatMs: number;
  #timer: Timer;

  constructor(
    context: IdentityContext,
    selection: IdentitySelection,
    queue: BoundedQueue<IdentityEvent | "beat">,
    heartbeatMs: number,
  ) {
    this.#context = context;
    this.#selection = selection;
    this.#queue = queue;
    this.#heartbeatMs = heartbeatMs;
    this.#timer = this.#schedule();
  }

  take({ change, liveness, partition, record }: DirectoryEvent): void {
    if (!this.#selection.matchesProfile(record)) return;
    const identity = identityToWire(record, partition, this.#context.clock.now(), liveness);
    const revision = change === "silent" ? identity.renewalRevision || identity.revision : identity.revision;
    if (this.#queue.push({ change: changes[change], identity, revision })) return;
    this.#queue.fail(watcherTooSlow(this.#context.queuedPerWatcher));
  }

  async *responses(): AsyncGenerator<IdentityServiceWatchResponse, void, undefined> {
    let events: IdentityEvent[] = [];
    for await (const item of this.#queue) {
      if (item === "beat") {
        yield marked(WatchMarkKind.HEARTBEAT, this.#context.reader.revision);
        continue;
      }
      events.push(item);
      if (this.#queue.size > 0 && events.length < mostEvents) continue;
      yield told(events, this.#context.reader.revision);
      events = [];
    }
  }

  stop(): void {
    this.#timer.cancel();
    this.#queue.end();
  }

  #schedule(): Timer {
    return this.#context.clock.schedule(this.#heartbeatMs, () => {
      // Whoever has something to read knows that the stream lives.
      if (this.#queue.size === 0) this.#queue.push("beat");
      this.#timer = this.#schedule();
    });
  }
}

function* present(
  { clock, directory }: IdentityContext,
  selection: IdentitySelection,
): Generator<IdentityServiceWatchResponse, void, undefined> {
  let events: IdentityEvent[] = [];
  for (const id of [...directory.ids].sort()) {
    const record = directory.recordOf(id);
    if (record === undefined || !selection.matchesProfile(record)) continue;
    const now = clock.now();
    if (!selection.matchesLiveness(livenessOf(record, now))) continue;
    const identity = identityToWire(record, directory.partitionOf(record.key), now);
    events.push({ change: IdentityChange.PRESENT, identity, revision: identity.revision });
    if (events.length < mostEvents) continue;
    yield told(events, 0n);
    events = [];
  }
  if (events.length > 0) yield told(events, 0n);
}

function told(events: readonly IdentityEvent[], revision: bigint): IdentityServiceWatchResponse {
  return IdentityServiceWatchResponse.fromPartial({ events: [...events], position: { revision } });
}

function marked(kind: WatchMarkKind, revision: bigint): IdentityServiceWatchResponse {
  return IdentityServiceWatchResponse.fromPartial({ position: markAt(kind, revision) });
}
