import {
  ChangeKind,
  ResyncReason,
  type WatchMark,
  WatchMarkKind,
  type WatchOptions,
  type WatchPosition,
} from "@tenure/contracts";
import { invalid } from "@tenure/kernel";
import type { Change, ChangeSet } from "./change-set.ts";
import { changesMissed, replicaBehind, watcherTooSlow } from "./faults.ts";
import { partitionsOf, type ReadModel, viewAt } from "./read-model.ts";
import type { RecordKind, Selection } from "./record-kind.ts";
import { gatherResponses } from "./response-size.ts";
import { decodeResumeToken, type ResumeToken, type WatchPlace } from "./resume-token.ts";
import type { SharedEncoding } from "./shared-encoding.ts";
import { encodeWatchResponse } from "./watch-response.ts";

/** What every watch of one kind shares. */
export interface WatchContext<Seen, Selector> {
  readonly model: ReadModel;
  readonly kind: RecordKind<Seen, Selector>;
  readonly encoding: SharedEncoding<Seen>;
  /** Open watches of every kind. */
  readonly open: { count: number };
  /** How many watches may be open at once. */
  readonly mostWatchers: number;
  /** Batches that wait for a watcher; one that lags further is cut off. */
  readonly queuedPerWatcher: number;
}

/** A request of any watch. */
export interface WatchRequest<Selector> {
  readonly selectors: readonly Selector[];
  readonly options?: WatchOptions | undefined;
}

interface Shown<Seen> {
  readonly change: Change<Seen>;
  readonly kind: ChangeKind;
  /** Its place among the changes of its batch, from 1. */
  readonly number: number;
}

/** How long a replica that is behind the client's revision may take to catch up. */
const catchUpMs = 2_000;
const noMark = { resyncReason: ResyncReason.UNSPECIFIED };
const beingRead = "the log is being read";
/** There is no token before the present state is complete: a part of a state cannot be resumed. */
const noPlace = { revision: 0n, resumeToken: new Uint8Array(0) };

/**
 * What one watcher is shown, as encoded responses that others may be sent too. It remembers where it stands and nothing
 * of what it showed: each change says what the record was before.
 */
export class WatchView<Seen, Selector> {
  readonly partitions: readonly number[];
  readonly includeRenewals: boolean;
  readonly #context: WatchContext<Seen, Selector>;
  readonly #options: WatchOptions | undefined;
  readonly #selection: Selection<Seen>;
  readonly #names: ReadonlySet<string> | undefined;
  #place: WatchPlace = { revision: 0n };

  /** INVALID_ARGUMENT when the selectors make no sense. */
  constructor(context: WatchContext<Seen, Selector>, { options, selectors }: WatchRequest<Selector>) {
    this.#context = context;
    this.#options = options;
    this.#selection = context.kind.select(selectors);
    this.#names = this.leases && new Set(this.leases);
    this.partitions = partitionsOf(context.model, this.leases);
    this.includeRenewals = options?.includeRenewals ?? false;
  }

  /** The leases that alone can matter; undefined if others can. */
  get leases(): Selection<Seen>["leases"] {
    return this.#selection.leases;
  }

  /** Whether a batch may matter, by names alone: cheap, and asked for every batch. */
  isConcerned(set: ChangeSet): boolean {
    const { kind } = this.#context;
    const names = this.#names;
    const touches = (changes: readonly Change<Seen>[]) =>
      names === undefined ? changes.length > 0 : changes.some(({ key }) => names.has(key));
    return touches(kind.changes(set)) || (this.includeRenewals && touches(kind.renewals(set)));
  }

  /** How the watch begins: the present state, or what was missed since its token. */
  async *begin(signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { hub, incarnationId } = this.#context.model;
    const { changesOnly = false, minRevision = 0n, resumeToken = new Uint8Array(0) } = this.#options ?? {};
    const token = resumeToken.length > 0 ? decodeResumeToken(resumeToken, incarnationId) : undefined;
    const isOwn = token === undefined || token.isOwnIncarnation;
    const floor = token !== undefined && token.revision > minRevision ? token.revision : minRevision;
    await hub.reach(isOwn ? floor : 0n, catchUpMs, signal);
    if (token !== undefined) yield* this.#resume(token, signal);
    else yield* this.#present(!changesOnly);
  }

  /** Changes were missed: the state is shown anew. */
  async *startOver(resyncReason: ResyncReason, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#options?.failOnGap ?? false) throw changesMissed(resyncReason);
    await this.#context.model.hub.reach(0n, catchUpMs, signal);
    yield encodeWatchResponse([], { ...noPlace, mark: { kind: WatchMarkKind.RESYNC, resyncReason } });
    yield* this.#present(true);
  }

  /** What a batch means to the watcher: one response, several, or nothing, also if it was shown already. */
  respond(set: ChangeSet): Uint8Array | Generator<Uint8Array, void, undefined> | undefined {
    const { part, revision } = this.#place;
    const { sequence } = set;
    if (sequence <= revision) return undefined;
    const all = this.#select(set);
    const shown = part?.sequence === sequence ? all.filter(({ number }) => number > part.changes) : all;
    const [only] = shown;
    if (shown.length > 1) return this.#parts(set, shown, revision);
    this.#place = { revision: sequence };
    return only && this.#context.encoding.response(set, only.change, only.kind);
  }

  /** Nothing else happened up to a revision. */
  heartbeat(revision: bigint): Uint8Array {
    if (revision > this.#place.revision) this.#place = { revision };
    return this.#mark({ ...noMark, kind: WatchMarkKind.HEARTBEAT });
  }

  async *#resume(token: ResumeToken, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { kind, model } = this.#context;
    if (token.subject !== kind.subject) {
      const rule = `must be the token of a watch of ${kind.subject}`;
      throw invalid([{ field: "options.resume_token", rule, value: token.subject }]);
    }
    if (!token.isOwnIncarnation) return yield* this.startOver(ResyncReason.OTHER_INCARNATION, signal);
    const missed = model.hub.changesAfter(token.revision);
    if (missed === undefined) return yield* this.startOver(ResyncReason.TOKEN_TOO_OLD, signal);
    this.#place = { revision: token.revision, part: token.part };
    yield this.#mark({ ...noMark, kind: WatchMarkKind.SYNCED });
    // What is told while this is read comes once more with the later changes; the revision shows that it was delivered.
    for (const changes of missed) {
      const response = this.isConcerned(changes) ? this.respond(changes) : undefined;
      if (response instanceof Uint8Array) yield response;
      else if (response !== undefined) yield* response;
    }
  }

  /** The responses of a batch with several events; `before` is where the watch stood. */
  *#parts(set: ChangeSet, shown: readonly Shown<Seen>[], before: bigint): Generator<Uint8Array, void, undefined> {
    const { encoding } = this.#context;
    const { sequence } = set;
    const events = shown.map(
      ({ change, kind }) =>
        () =>
          encoding.event(set, change, kind),
    );
    for (const { events: gathered, upTo } of gatherResponses(events)) {
      const isPart = upTo < shown.length;
      const changes = shown[upTo - 1]?.number ?? 0;
      this.#place = isPart ? { revision: before, part: { sequence, changes } } : { revision: sequence };
      yield encodeWatchResponse(gathered, encoding.position(this.#place));
    }
  }

  /** Shows the state at one revision. */
  async *#present(isShown: boolean): AsyncGenerator<Uint8Array, void, undefined> {
    const { kind, model, queuedPerWatcher } = this.#context;
    model.hub.keepPast();
    const { revision } = model.hub;
    this.#place = { revision };
    for (const partition of isShown ? this.partitions : []) {
      const nowMs = model.clock.now();
      const records = await viewAt(model, partition, revision, (past) =>
        this.#matching(kind.present(past, this.leases)),
      );
      if (records === undefined)
        throw model.hub.isFollowing ? watcherTooSlow(queuedPerWatcher) : replicaBehind(beingRead);
      const showing = { partition, nowMs, revision, lines: [] };
      const events = records.map((record) => () => kind.encodeEvent(ChangeKind.PRESENT, record, showing));
      const position: WatchPosition = { ...noPlace, mark: undefined };
      for (const gathered of gatherResponses(events)) yield encodeWatchResponse(gathered.events, position);
    }
    yield this.#mark({ ...noMark, kind: WatchMarkKind.SYNCED });
  }

  /** What matches, copied: it is encoded when the watcher is ready for it, and the state goes on. */
  #matching(records: Iterable<Seen>): readonly Seen[] {
    const matching: Seen[] = [];
    for (const record of records) if (this.#selection.matches(record)) matching.push(this.#context.kind.copy(record));
    return matching;
  }

  /** What of a batch the watcher is shown, judged by what each record was and is. */
  #select(set: ChangeSet): readonly Shown<Seen>[] {
    const { kind } = this.#context;
    const shown: Shown<Seen>[] = [];
    const changes = kind.changes(set);
    for (const [index, change] of changes.entries()) {
      if (this.#names?.has(change.key) === false) continue;
      const was = change.before !== undefined && this.#selection.matches(change.before);
      const is = change.after !== undefined && this.#selection.matches(change.after);
      if ((!was && !is) || (was && is && change.isIndirect === true)) continue;
      const changed = was ? ChangeKind.CHANGED : ChangeKind.ADDED;
      shown.push({ change, kind: is ? changed : ChangeKind.REMOVED, number: index + 1 });
    }
    if (!this.includeRenewals) return shown;
    kind.renewals(set).forEach((change, index) => {
      if (this.#names?.has(change.key) === false || !this.#selection.matches(change.last)) return;
      shown.push({ change, kind: ChangeKind.RENEWED, number: changes.length + index + 1 });
    });
    return shown;
  }

  #mark(mark: WatchMark): Uint8Array {
    return encodeWatchResponse([], this.#context.encoding.position(this.#place, mark));
  }
}
