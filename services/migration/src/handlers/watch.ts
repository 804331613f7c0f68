import type { CallContext } from "@tenure/bus";
import {
  ChangeKind,
  type MigrationEvent,
  type MigrationServiceWatchRequest,
  MigrationServiceWatchResponse,
  WatchMarkKind,
} from "@tenure/contracts";
import { JoinedSignal } from "@tenure/kernel";
import { beginsAnew, heartbeatOf, markAt, takePlace } from "@tenure/reader";
import { type MigrationContext, namespaceIn, reach } from "./migration-context.ts";
import { difference, event, look } from "./watched.ts";

/**
 * Follows configurations, participants and alarms: the present state, a SYNCED mark, then what changes. Alarms are each
 * replica's own conclusion and not in the log, so a watch is not resumed but begun anew, and says so by a RESYNC mark.
 */
export async function* watch(
  context: MigrationContext,
  request: MigrationServiceWatchRequest,
  scope: CallContext,
): AsyncGenerator<MigrationServiceWatchResponse, void, undefined> {
  const { directory, mostWatchers, reader, watchers } = context;
  const { options } = request;
  const heartbeatMs = heartbeatOf(options);
  const isAnew = beginsAnew(options);
  if (request.namespace !== "") namespaceIn(context, request.namespace);
  using _ = takePlace(watchers, mostWatchers);
  const news = new News(context, heartbeatMs, scope.signal);
  const unfollow = directory.follow({ onChanged: () => news.ring() });
  try {
    await reach(context, { consistency: 0, minRevision: options?.minRevision ?? 0n }, scope);
    let seen = look(context, request);
    if (isAnew) yield marked(WatchMarkKind.RESYNC, 0n);
    if (options?.changesOnly !== true)
      yield told(
        [...seen.values()].map((one) => event(ChangeKind.PRESENT, one)),
        0n,
      );
    yield marked(WatchMarkKind.SYNCED, reader.revision);
    while (!scope.signal.aborted) {
      if (!(await news.next())) {
        yield marked(WatchMarkKind.HEARTBEAT, reader.revision);
        continue;
      }
      const now = look(context, request);
      const events = difference(seen, now, reader.revision);
      seen = now;
      if (events.length > 0) yield told(events, reader.revision);
    }
  } finally {
    unfollow();
  }
}

/** Whether something changed since it was last asked; many changes are one. */
class News {
  readonly #context: MigrationContext;
  readonly #heartbeatMs: number;
  readonly #signal: AbortSignal;
  #isRung = false;
  #wake: () => void = () => {};

  constructor(context: MigrationContext, heartbeatMs: number, signal: AbortSignal) {
    this.#context = context;
    this.#heartbeatMs = heartbeatMs;
    this.#signal = signal;
  }

  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** Resolves with true when something changed, with false after a heartbeat's time or at the end of the watch. */
  async next(): Promise<boolean> {
    if (!this.#isRung) {
      const rung = new AbortController();
      this.#wake = () => rung.abort();
      using either = new JoinedSignal([this.#signal, rung.signal]);
      await this.#context.clock.sleep(this.#heartbeatMs, either.signal).catch(() => undefined);
    }
    const wasRung = this.#isRung;
    this.#isRung = false;
    return wasRung;
  }
}

function told(events: readonly MigrationEvent[], revision: bigint): MigrationServiceWatchResponse {
  return MigrationServiceWatchResponse.fromPartial({ events: [...events], position: { revision } });
}

function marked(kind: WatchMarkKind, revision: bigint): MigrationServiceWatchResponse {
  return MigrationServiceWatchResponse.fromPartial({ position: markAt(kind, revision) });
}
