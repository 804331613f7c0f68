import {
  durationToMs,
  ResyncReason,
  type WatchMark,
  WatchMarkKind,
  type WatchOptions,
  type WatchPosition,
} from "@tenure/contracts";
import type { PartitionState } from "@tenure/core";
import { BoundedQueue, type Clock, Fault, invalid, type Timer } from "@tenure/kernel";
import { limitReached } from "../replica/faults.ts";
import type { StoreReplica } from "../replica/store-replica.ts";
import type { ChangeSet } from "./changes.ts";
import { decodeResumeToken, encodeResumeToken, type ResumeToken, type WatchSubject } from "./resume-token.ts";
import type { WatchHub } from "./watch-hub.ts";

/** What one watch follows and how it shows it. */
export interface WatchPlan<Change, Response> {
  readonly subject: WatchSubject;
  readonly options: WatchOptions | undefined;
  /** The partitions that may have matching records. */
  readonly partitions: readonly number[];
  /** Whether a batch may matter, by names alone: cheap, and asked for every batch. */
  isConcerned(changes: ChangeSet): boolean;
  /** Every matching record of a partition. The watch begins anew with it. */
  present(state: PartitionState): readonly Change[];
  /** What of a batch matches, in order. */
  select(changes: ChangeSet, includeRenewals: boolean): readonly Change[];
  respond(changes: readonly Change[], revision: bigint, position: WatchPosition): Response;
}

/** What every watch of a replica shares. */
export interface WatchContext {
  readonly replica: StoreReplica;
  readonly hub: WatchHub;
  readonly clock: Clock;
  readonly incarnationId: string;
  /** How many watches this replica serves at once. */
  readonly mostWatchers: number;
  /** Batches that wait for a watcher; one that lags further is cut off. */
  readonly queuedPerWatcher: number;
}

type Item =
  | { readonly kind: "changes"; readonly changes: ChangeSet }
  | { readonly kind: "gap" }
  | { readonly kind: "heartbeat"; readonly revision: bigint };

const heartbeatBoundsMs = { least: 1_000, most: 60_000, usual: 5_000 };
/** Records per response of the present state. */
const recordsPerResponse = 100;
/** How long a replica that is behind the client's revision may take to catch up. */
const catchUpMs = 2_000;

/**
 * Follows records: the present state, a SYNCED mark, then every change once and in the order of the log. A reader that
 * is too slow is cut off with WATCHER_TOO_SLOW, and resumes from its last token.
 */
export async function* watch<Change, Response>(
  context: WatchContext,
  plan: WatchPlan<Change, Response>,
  signal: AbortSignal,
): AsyncGenerator<Response, void, undefined> {
  const stream = new WatchStream(context, plan);
  try {
    yield* stream.run(signal);
  } finally {
    stream.end();
  }
}

class WatchStream<Change, Response> {
  readonly #context: WatchContext;
  readonly #plan: WatchPlan<Change, Response>;
  readonly #queue: BoundedQueue<Item>;
  readonly #heartbeatMs: number;
  readonly #includeRenewals: boolean;
  readonly #unfollow: () => void;
  #ahead = new Map<number, bigint>();
  #revision = 0n;
  #timer: Timer | undefined;
  #saidAtMs: number;

  constructor(context: WatchContext, plan: WatchPlan<Change, Response>) {
    const { clock, hub, mostWatchers, queuedPerWatcher } = context;
    if (hub.watchers >= mostWatchers) {
      throw limitReached("watchers", mostWatchers, "this replica serves too many watches");
    }
    this.#context = context;
    this.#plan = plan;
    this.#heartbeatMs = heartbeatOf(plan.options);
    this.#includeRenewals = plan.options?.includeRenewals ?? false;
    this.#queue = new BoundedQueue(queuedPerWatcher);
    this.#saidAtMs = clock.now();
    this.#unfollow = hub.follow({
      wantsRenewals: this.#includeRenewals,
      onChanges: (changes) => {
        if (plan.isConcerned(changes)) this.#enqueue({ kind: "changes", changes });
      },
      onGap: () => this.#enqueue({ kind: "gap" }),
    });
  }

  end(): void {
    this.#unfollow();
    this.#timer?.cancel();
    this.#queue.end();
  }

  async *run(signal: AbortSignal): AsyncGenerator<Response, void, undefined> {
    const onAbort = () => this.#queue.fail(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      yield* this.#begin(signal);
      this.#scheduleHeartbeat();
      for await (const item of this.#queue) yield* this.#show(item);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async *#begin(signal: AbortSignal): AsyncGenerator<Response, void, undefined> {
    const { incarnationId, replica } = this.#context;
    const { minRevision = 0n, resumeToken = new Uint8Array(0) } = this.#plan.options ?? {};
    const token = resumeToken.length > 0 ? decodeResumeToken(resumeToken, incarnationId) : undefined;
    const floor = token !== undefined && token.revision > minRevision ? token.revision : minRevision;
    if (token === undefined || token.isOwnIncarnation) {
      for (const partition of this.#plan.partitions) await replica.reach(partition, floor, catchUpMs, signal);
    }
    if (token !== undefined) yield* this.#resume(token);
    else if (this.#plan.options?.changesOnly ?? false) yield* this.#present(false);
    else yield* this.#present(true);
  }

  async *#resume(token: ResumeToken): AsyncGenerator<Response, void, undefined> {
    if (token.subject !== this.#plan.subject) {
      const rule = `must be the token of a watch of ${this.#plan.subject}`;
      throw invalid([{ field: "options.resume_token", rule, value: token.subject }]);
    }
    if (!token.isOwnIncarnation) return yield* this.#startOver(ResyncReason.OTHER_INCARNATION);
    const missed = this.#context.hub.changesAfter(token.revision);
    if (missed === undefined) return yield* this.#startOver(ResyncReason.TOKEN_TOO_OLD);
    // Labels are judged against what the client has seen, so the present state is looked at without being sent.
    for (const partition of this.#plan.partitions) {
      await this.#context.replica.at(partition).view((state) => this.#plan.present(state));
    }
    this.#revision = token.revision;
    this.#ahead = new Map(token.ahead);
    yield this.#mark({ kind: WatchMarkKind.SYNCED, resyncReason: ResyncReason.UNSPECIFIED });
    for (const changes of missed) if (this.#plan.isConcerned(changes)) yield* this.#showChanges(changes);
    // What was told while this was read is in the queue as well; the revision shows that it was delivered.
  }

  async *#startOver(resyncReason: ResyncReason): AsyncGenerator<Response, void, undefined> {
    if (this.#plan.options?.failOnGap ?? false) throw missedChanges(resyncReason);
    yield this.#mark({ kind: WatchMarkKind.RESYNC, resyncReason });
    yield* this.#present(true);
  }

  async *#present(isShown: boolean): AsyncGenerator<Response, void, undefined> {
    const { hub, replica } = this.#context;
    const revision = hub.revision;
    const ahead = new Map<number, bigint>();
    this.#revision = revision;
    for (const partition of this.#plan.partitions) {
      const changes = await replica.at(partition).view((state) => {
        ahead.set(partition, state.lastSequence);
        return this.#plan.present(state);
      });
      for (let from = 0; isShown && from < changes.length; from += recordsPerResponse) {
        yield this.#respond(changes.slice(from, from + recordsPerResponse), revision);
      }
    }
    this.#ahead = ahead;
    yield this.#mark({ kind: WatchMarkKind.SYNCED, resyncReason: ResyncReason.UNSPECIFIED });
  }

  async *#show(item: Item): AsyncGenerator<Response, void, undefined> {
    if (item.kind === "gap") return yield* this.#startOver(ResyncReason.LOG_GAP);
    if (item.kind === "changes") return yield* this.#showChanges(item.changes);
    if (item.revision > this.#revision) this.#revision = item.revision;
    yield this.#mark({ kind: WatchMarkKind.HEARTBEAT, resyncReason: ResyncReason.UNSPECIFIED });
  }

  async *#showChanges(changes: ChangeSet): AsyncGenerator<Response, void, undefined> {
    const { partition, sequence } = changes;
    const delivered = this.#ahead.get(partition) ?? 0n;
    if (sequence <= delivered || sequence <= this.#revision) return;
    const selected = this.#plan.select(changes, this.#includeRenewals);
    this.#revision = sequence;
    if (selected.length > 0) yield this.#respond(selected, sequence);
  }

  #respond(changes: readonly Change[], revision: bigint, mark?: WatchMark): Response {
    const { clock, incarnationId } = this.#context;
    this.#saidAtMs = clock.now();
    const place = { revision: this.#revision, ahead: this.#ahead };
    const resumeToken = encodeResumeToken(this.#plan.subject, incarnationId, place);
    return this.#plan.respond(changes, revision, { revision: this.#revision, resumeToken, mark });
  }

  #mark(mark: WatchMark): Response {
    return this.#respond([], this.#revision, mark);
  }

  #enqueue(item: Item): void {
    if (!this.#queue.push(item)) this.#queue.fail(tooSlow(this.#context.queuedPerWatcher));
  }

  #scheduleHeartbeat(): void {
    const { clock, hub } = this.#context;
    const dueMs = this.#saidAtMs + this.#heartbeatMs - clock.now();
    this.#timer = clock.schedule(Math.max(dueMs, 1), () => {
      const isSilent = clock.now() - this.#saidAtMs >= this.#heartbeatMs && this.#queue.size === 0;
      if (isSilent) {
        this.#saidAtMs = clock.now();
        this.#enqueue({ kind: "heartbeat", revision: hub.revision });
      }
      this.#scheduleHeartbeat();
    });
  }
}

function heartbeatOf(options: WatchOptions | undefined): number {
  if (options?.heartbeatInterval === undefined) return heartbeatBoundsMs.usual;
  const intervalMs = durationToMs(options.heartbeatInterval);
  if (intervalMs >= heartbeatBoundsMs.least && intervalMs <= heartbeatBoundsMs.most) return intervalMs;
  const rule = "must be between 1s and 60s";
  throw invalid([{ field: "options.heartbeat_interval", rule, value: `${intervalMs}ms` }]);
}

function tooSlow(most: number): Fault {
  return new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: "WATCHER_TOO_SLOW",
    message: `the watcher is ${most} batches behind and was cut off: resume from its last token`,
    details: { limit: { name: "queued-per-watcher", value: BigInt(most) } },
  });
}

function missedChanges(reason: ResyncReason): Fault {
  const why = reason === ResyncReason.TOKEN_TOO_OLD ? "the resume token is too old" : "changes were missed";
  return new Fault({
    code: "OUT_OF_RANGE",
    reason: "RESUME_TOKEN_TOO_OLD",
    message: `${why}: list again, and watch from the list`,
  });
}
