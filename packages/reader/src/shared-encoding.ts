import type { ChangeKind, WatchMark, WatchPosition } from "@tenure/contracts";
import type { Change, ChangeSet } from "./change-set.ts";
import type { RecordKind } from "./record-kind.ts";
import { encodeResumeToken, type WatchPlace } from "./resume-token.ts";
import { encodeWatchResponse } from "./watch-response.ts";

interface Encoded {
  event?: Uint8Array;
  response?: Uint8Array;
}

/**
 * The bytes of changes, each made once for all watchers that are shown the same. Kept as long as the change is: an event
 * that ten thousand watch is encoded once and copied never.
 */
export class SharedEncoding<Seen> {
  readonly #kind: RecordKind<Seen, never>;
  readonly #incarnationId: string;
  readonly #encoded = new WeakMap<Change<Seen>, Map<ChangeKind, Encoded>>();

  constructor(kind: RecordKind<Seen, never>, incarnationId: string) {
    this.#kind = kind;
    this.#incarnationId = incarnationId;
  }

  /** One event of a batch. */
  event(set: ChangeSet, change: Change<Seen>, kind: ChangeKind): Uint8Array {
    const encoded = this.#of(change, kind);
    const { appliedAtMs: nowMs, partition, sequence: revision } = set;
    const showing = { partition, nowMs, revision, lines: change.lines };
    encoded.event ??= this.#kind.encodeEvent(kind, change.last, showing);
    return encoded.event;
  }

  /** The whole response to watchers for whom a batch is this one event. */
  response(set: ChangeSet, change: Change<Seen>, kind: ChangeKind): Uint8Array {
    const encoded = this.#of(change, kind);
    encoded.response ??= encodeWatchResponse(
      [this.event(set, change, kind)],
      this.position({ revision: set.sequence }),
    );
    return encoded.response;
  }

  /** What a response says about its place. */
  position(place: WatchPlace, mark?: WatchMark): WatchPosition {
    const resumeToken = encodeResumeToken(this.#kind.subject, this.#incarnationId, place);
    return { revision: place.revision, resumeToken, mark };
  }

  #of(change: Change<Seen>, kind: ChangeKind): Encoded {
    const kinds = this.#encoded.get(change) ?? new Map<ChangeKind, Encoded>();
    this.#encoded.set(change, kinds);
    const encoded = kinds.get(kind) ?? {};
    kinds.set(kind, encoded);
    return encoded;
  }
}
