import type { CallContext } from "@tenure/bus";
import {
  type ElectionServiceObserveRequest,
  ElectionServiceObserveResponse,
  type Leadership,
  leaseOfRequest,
  ResyncReason,
  WatchMarkKind,
} from "@tenure/contracts";
import { type LeaseKey, type LeaseRecord, partitionOf } from "@tenure/core";
import { BoundedQueue, invalid, type Timer } from "@tenure/kernel";
import { beginsAnew, heartbeatOf, markAt, takePlace, watcherTooSlow } from "@tenure/reader";
import { catchUpMs, type ElectionContext, recordOf } from "./election-context.ts";
import { isSameLeadership, leadershipOf } from "./leadership.ts";
import { leaseIn } from "./question.ts";

const mostLeases = 100;
/** Changes that wait for an observer before it is cut off. */
const mostQueued = 1_000;

/**
 * Follows who leads: the present state, a SYNCED mark, then each change once and in the order of the log. A stream that
 * broke is begun anew with the present state, which is small; with a token it says so by a RESYNC mark.
 */
export async function* observe(
  context: ElectionContext,
  { leases, options }: ElectionServiceObserveRequest,
  { signal }: CallContext,
): AsyncGenerator<ElectionServiceObserveResponse, void, undefined> {
  const { mostObservers, observers, reader } = context;
  using _ = takePlace(observers, mostObservers);
  const keys = keysOf(leases);
  const heartbeatMs = heartbeatOf(options);
  const isAnew = beginsAnew(options);
  await reader.hub.reach(options?.minRevision ?? 0n, catchUpMs, signal);
  for (const key of keys) await reader.view(partitionOf(key, reader.partitions), () => undefined);
  const observation = new Observation(context, keys, heartbeatMs);
  const onAbort = () => observation.fail(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (isAnew) yield marked(WatchMarkKind.RESYNC, 0n);
    if (options?.changesOnly !== true) yield told(observation.present, 0n);
    yield marked(WatchMarkKind.SYNCED, reader.revision);
    yield* observation.responses();
  } finally {
    observation[Symbol.dispose]();
    signal.removeEventListener("abort", onAbort);
  }
}

type Item = { readonly leadership: Leadership; readonly revision: bigint } | "beat" | "gap";

/** What one observer sees. */
class Observation implements Disposable {
  readonly #context: ElectionContext;
  readonly #seen = new Map<LeaseKey, Leadership>();
  readonly #queue = new BoundedQueue<Item>(mostQueued);
  readonly #unfollow: () => void;
  readonly #heartbeatMs: number;
  #timer: Timer;

  constructor(context: ElectionContext, keys: readonly LeaseKey[], heartbeatMs: number) {
    this.#context = context;
    this.#heartbeatMs = heartbeatMs;
    // The state is read in the same step in which the listening begins, so that nothing is told twice or missed.
    this.#unfollow = context.reader.hub.follow(
      {
        onChanges: (changes) => {
          for (const { after, key } of changes.leases) this.#see(key, after, changes.sequence);
        },
        onGap: () => this.#push("gap"),
        onHalted: (_partition, fault) => this.#queue.fail(fault),
      },
      { leases: keys, wantsRenewals: false },
    );
    for (const key of keys) this.#seen.set(key, this.#leadershipOf(key, recordOf(context, key)));
    this.#timer = this.#scheduleBeat();
  }

  get present(): readonly Leadership[] {
    return [...this.#seen.values()];
  }

  async *responses(): AsyncGenerator<ElectionServiceObserveResponse, void, undefined> {
    for await (const item of this.#queue) {
      if (item === "beat") yield marked(WatchMarkKind.HEARTBEAT, this.#context.reader.revision);
      else if (item !== "gap") yield told([item.leadership], item.revision);
      else {
        yield marked(WatchMarkKind.RESYNC, 0n, ResyncReason.LOG_GAP);
        for (const key of this.#seen.keys()) this.#seen.set(key, this.#leadershipOf(key, recordOf(this.#context, key)));
        yield told(this.present, 0n);
        yield marked(WatchMarkKind.SYNCED, this.#context.reader.revision);
      }
    }
  }

  fail(reason: unknown): void {
    this.#queue.fail(reason);
  }

  [Symbol.dispose](): void {
    this.#unfollow();
    this.#timer.cancel();
    this.#queue.end();
  }

  #see(key: LeaseKey, record: LeaseRecord | undefined, revision: bigint): void {
    const known = this.#seen.get(key);
    const leadership = this.#leadershipOf(key, record);
    if (known === undefined || isSameLeadership(known, leadership)) return;
    this.#seen.set(key, leadership);
    this.#push({ leadership, revision });
  }

  #leadershipOf(key: LeaseKey, record: LeaseRecord | undefined): Leadership {
    const { clock, reader } = this.#context;
    return leadershipOf(key, record, reader.partitions, clock.now());
  }

  #push(item: Item): void {
    if (!this.#queue.push(item)) this.#queue.fail(watcherTooSlow(mostQueued));
  }

  #scheduleBeat(): Timer {
    return this.#context.clock.schedule(this.#heartbeatMs, () => {
      // Whoever has something to read knows that the stream lives.
      if (this.#queue.size === 0) this.#push("beat");
      this.#timer = this.#scheduleBeat();
    });
  }
}

function keysOf(leases: ElectionServiceObserveRequest["leases"]): readonly LeaseKey[] {
  if (leases.length < 1 || leases.length > mostLeases) {
    const rule = `must have 1 to ${mostLeases} entries`;
    throw invalid([{ field: "leases", rule, value: String(leases.length) }]);
  }
  return [...new Set(leases.map((lease) => leaseIn(leaseOfRequest({ lease, read: undefined }))))];
}

function told(leaderships: readonly Leadership[], revision: bigint): ElectionServiceObserveResponse {
  return ElectionServiceObserveResponse.fromPartial({ leaderships: [...leaderships], position: { revision } });
}

function marked(...mark: Parameters<typeof markAt>): ElectionServiceObserveResponse {
  return ElectionServiceObserveResponse.fromPartial({ position: markAt(...mark) });
}
