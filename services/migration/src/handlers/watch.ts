import type { CallContext } from "@tenure/bus";
import {
  ChangeKind,
  durationToMs,
  MigrationEvent,
  type MigrationServiceWatchRequest,
  MigrationServiceWatchResponse,
  ResyncReason,
  WatchMarkKind,
  type WatchOptions,
} from "@tenure/contracts";
import { Fault, invalid } from "@tenure/kernel";
import { alarmKey } from "@tenure/migration-rules";
import { tooManyWatchers } from "@tenure/reader";
import { alarmsToWire, type MigrationContext, namespaceIn, reach } from "./migration-context.ts";

type Subject = NonNullable<MigrationEvent["subject"]>;

/** One thing that is watched, and what tells whether it changed. */
interface Seen {
  readonly subject: Subject;
  readonly revision: bigint;
  readonly text: string;
}

const heartbeatBoundsMs = { least: 1_000, most: 60_000, usual: 5_000 };

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
  refuseResume(options);
  if (request.namespace !== "") namespaceIn(context, request.namespace);
  if (watchers.count >= mostWatchers) throw tooManyWatchers(mostWatchers);
  await reach(context, { consistency: 0, minRevision: options?.minRevision ?? 0n }, scope);
  watchers.count += 1;
  const news = new News(context, heartbeatMs, scope.signal);
  const unfollow = directory.follow({ onChanged: () => news.ring() });
  try {
    let seen = look(context, request);
    if ((options?.resumeToken.length ?? 0) > 0) yield marked(WatchMarkKind.RESYNC, 0n);
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
    watchers.count -= 1;
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
      const ending = new AbortController();
      this.#wake = () => ending.abort();
      const signal = AbortSignal.any([this.#signal, ending.signal]);
      await this.#context.clock.sleep(this.#heartbeatMs, signal).catch(() => undefined);
    }
    const wasRung = this.#isRung;
    this.#isRung = false;
    return wasRung;
  }
}

/** Everything that a watch selects, by name. */
function look(context: MigrationContext, { name, namespace }: MigrationServiceWatchRequest): Map<string, Seen> {
  const { directory, reader } = context;
  const seen = new Map<string, Seen>();
  const add = (key: string, subject: Subject, revision: bigint) => {
    const text = Buffer.from(MigrationEvent.encode(MigrationEvent.fromPartial({ subject })).finish()).toString(
      "base64",
    );
    seen.set(key, { subject, revision, text });
  };
  for (const place of namespace === "" ? directory.namespaces : [namespace]) {
    const { alarms, configurations, participants } = directory.stateOf(place);
    const named = configurations.filter(({ wire }) => name === "" || wire.name === name);
    const controllers = new Set(named.flatMap(({ wire }) => wire.controllerLeaders.map((leader) => leader.name)));
    for (const { inForce, wire } of named) {
      add(`configuration ${inForce.lock}`, { $case: "configuration", value: wire }, inForce.revision);
    }
    for (const { participant, revision, wire } of participants) {
      const isMeant =
        name === "" ||
        participant.digests.has(name) ||
        participant.controllers.some((one) => controllers.has(one.name));
      if (isMeant) add(`participant ${place} ${participant.instance}`, { $case: "participant", value: wire }, revision);
    }
    const meant = alarms.filter((alarm) => name === "" || alarm.controller === "" || controllers.has(alarm.controller));
    alarmsToWire(context, place, meant).forEach((value, index) => {
      const alarm = meant[index];
      if (alarm !== undefined) add(`alarm ${place} ${alarmKey(alarm)}`, { $case: "alarm", value }, reader.revision);
    });
  }
  return seen;
}

function difference(
  before: ReadonlyMap<string, Seen>,
  now: ReadonlyMap<string, Seen>,
  revision: bigint,
): MigrationEvent[] {
  const events: MigrationEvent[] = [];
  for (const [key, one] of now) {
    const known = before.get(key);
    if (known === undefined) events.push(event(ChangeKind.ADDED, one));
    else if (known.text !== one.text) events.push(event(ChangeKind.CHANGED, one));
  }
  for (const [key, one] of before) if (!now.has(key)) events.push(event(ChangeKind.REMOVED, { ...one, revision }));
  return events;
}

function event(kind: ChangeKind, { revision, subject }: Seen): MigrationEvent {
  return MigrationEvent.fromPartial({ kind, subject, revision });
}

function told(events: readonly MigrationEvent[], revision: bigint): MigrationServiceWatchResponse {
  return MigrationServiceWatchResponse.fromPartial({ events: [...events], position: { revision } });
}

function marked(kind: WatchMarkKind, revision: bigint): MigrationServiceWatchResponse {
  const resyncReason = kind === WatchMarkKind.RESYNC ? ResyncReason.TOKEN_TOO_OLD : ResyncReason.UNSPECIFIED;
  return MigrationServiceWatchResponse.fromPartial({ position: { revision, mark: { kind, resyncReason } } });
}

function refuseResume(options: WatchOptions | undefined): void {
  if (options === undefined || options.resumeToken.length === 0 || !options.failOnGap) return;
  throw new Fault({
    code: "OUT_OF_RANGE",
    reason: "RESUME_TOKEN_TOO_OLD",
    message: "a watch of migrations cannot be resumed: start without a token",
  });
}

function heartbeatOf(options: WatchOptions | undefined): number {
  if (options?.heartbeatInterval === undefined) return heartbeatBoundsMs.usual;
  const intervalMs = durationToMs(options.heartbeatInterval);
  if (intervalMs >= heartbeatBoundsMs.least && intervalMs <= heartbeatBoundsMs.most) return intervalMs;
  const rule = "must be between 1s and 60s";
  throw invalid([{ field: "options.heartbeat_interval", rule, value: `${intervalMs}ms` }]);
}
