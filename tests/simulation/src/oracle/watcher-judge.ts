import { isDeepStrictEqual } from "node:util";
import { ChangeKind, type LeaseServiceWatchResponse, WatchMarkKind } from "@tenure/contracts";
import { decodeResumeToken } from "@tenure/reader";
import type { ChangeRecord } from "./change-record.ts";
import { demand } from "./violation.ts";

/**
 * Follows what one watcher is sent, from whichever server: the state at a position, then every later change once and in
 * the order of the log; a gap only after a mark, and the present anew (I17, I18).
 */
export class WatcherJudge {
  readonly #name: string;
  readonly #changes: ChangeRecord;
  readonly #incarnationId: string;
  readonly #present = new Map<string, bigint>();
  #position: bigint | undefined;
  /** A state is being sent, which ends with a mark. */
  #isStarting = true;
  /** Changes that it was sent. */
  told = 0;

  constructor(name: string, changes: ChangeRecord, incarnationId: string) {
    this.#name = name;
    this.#changes = changes;
    this.#incarnationId = incarnationId;
  }

  /** It asks another server, with its last token or without. */
  reopened(isResuming: boolean): void {
    this.#present.clear();
    this.#isStarting = true;
    if (!isResuming) this.#position = undefined;
  }

  received({ events, position }: LeaseServiceWatchResponse): void {
    const kind = position?.mark?.kind;
    if (kind === WatchMarkKind.RESYNC) {
      this.reopened(false);
      return;
    }
    const changed = new Map<string, bigint>();
    for (const event of events) {
      const lease = `${event.lease?.key?.namespace}/${event.lease?.key?.name}`;
      if (event.kind === ChangeKind.PRESENT) this.#present.set(lease, event.lease?.revision ?? 0n);
      else changed.set(lease, event.revision);
    }
    if (changed.size > 0) this.#expectNext(changed);
    const token = position?.resumeToken ?? new Uint8Array(0);
    if (kind !== undefined && token.length > 0) this.#expectMark(kind, this.#revisionOf(token));
  }

  /** Whether it has been told everything that there is. */
  get isUpToDate(): boolean {
    return !this.#isStarting && (this.#position ?? -1n) >= this.#changes.lastSequence;
  }

  describe(): string {
    return `${this.#name} has been told up to ${this.#position}, the last change is ${this.#changes.lastSequence}`;
  }

  #expectNext(changed: ReadonlyMap<string, bigint>): void {
    const last = this.#position;
    const [sequence = 0n] = changed.values();
    const what = `${this.#name} was told of ${[...changed.keys()].join(", ")} at ${sequence}`;
    demand(!this.#isStarting && last !== undefined, "I17", () => `${what} before it was told the present`);
    demand(sequence > last, "I17", () => `${what} after ${last}`);
    const next = this.#changes.after(last);
    demand(next?.sequence === sequence, "I18", () => `${what}, but the change after ${last} is ${next?.sequence}`);
    const isWhole = isDeepStrictEqual(new Set(changed.keys()), new Set(next.leases.keys()));
    demand(isWhole, "I17", () => `${what}, but the batch changed ${[...next.leases.keys()].join(", ")}`);
    this.#position = sequence;
    this.told += 1;
  }

  #expectMark(kind: WatchMarkKind, revision: bigint): void {
    const last = this.#position;
    if (this.#isStarting && last === undefined) this.#expectPresent(revision);
    else {
      const next = this.#changes.after(last ?? 0n);
      const isComplete = next === undefined || next.sequence > revision;
      const what = `${this.#name} was told that all up to ${revision} was told after ${last}`;
      demand(isComplete, "I18", () => `${what}, but not ${next?.sequence}`);
      demand(revision >= (last ?? 0n), "I17", () => `${what}, which is more`);
    }
    if (kind === WatchMarkKind.SYNCED) this.#isStarting = false;
    this.#position = revision;
  }

  #expectPresent(revision: bigint): void {
    const wanted = this.#changes.presentAt(revision);
    const isSame = isDeepStrictEqual(new Map([...this.#present].sort()), new Map([...wanted].sort()));
    demand(isSame, "I17", () => {
      const show = (leases: ReadonlyMap<string, bigint>) => [...leases].map((pair) => pair.join("@")).join(", ");
      return `${this.#name} was shown ${show(this.#present)} at ${revision}, the log has ${show(wanted)}`;
    });
  }

  #revisionOf(token: Uint8Array): bigint {
    return decodeResumeToken(token, this.#incarnationId).revision;
  }
}
