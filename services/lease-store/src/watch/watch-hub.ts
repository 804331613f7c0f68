import type { AppliedBatch } from "../replica/partition-replica.ts";
import { ChangeLog } from "./change-log.ts";
import { type ChangeSet, changesOf, type Renderer } from "./changes.ts";

/** One who follows the changes. Told synchronously, in the order of the log. */
export interface ChangeListener {
  readonly wantsRenewals: boolean;
  onChanges(changes: ChangeSet): void;
  /** Changes were missed: the present state has to be read again. */
  onGap(): void;
}

/** Bounds of what is kept. */
export interface WatchHubOptions {
  /** Changed records that are kept for watches that resume. */
  readonly keptChanges: number;
  /** Batches of this replica's own that wait for the tail; when it stands still for longer, watches start over. */
  readonly pendingBatches: number;
}

interface Place {
  readonly sequence: bigint;
  changes: ChangeSet | undefined;
  isSettled: boolean;
}

/**
 * Feeds every watch from the replica's one tail. Changes leave in the order of the log over all partitions: what this
 * replica committed itself is shown as it was right after its batch, but is kept back until the tail has passed it.
 */
export class WatchHub {
  readonly #render: Renderer;
  readonly #options: WatchHubOptions;
  readonly #log: ChangeLog;
  readonly #listeners = new Set<ChangeListener>();
  /** Applied and not yet brought by the tail. */
  readonly #pending = new Map<bigint, ChangeSet>();
  /** Brought by the tail and not yet told, in the order of the log: the first waits for its own append's answer. */
  #line: Place[] = [];
  #wantRenewals = 0;
  #revision = 0n;

  constructor(render: Renderer, options: WatchHubOptions) {
    this.#render = render;
    this.#options = options;
    this.#log = new ChangeLog(options.keptChanges);
  }

  /** Everything up to this position has been told. */
  get revision(): bigint {
    return this.#revision;
  }

  get watchers(): number {
    return this.#listeners.size;
  }

  /** Tells a listener of every later change; returns what ends that. */
  follow(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    if (listener.wantsRenewals) this.#wantRenewals += 1;
    return () => {
      if (this.#listeners.delete(listener) && listener.wantsRenewals) this.#wantRenewals -= 1;
    };
  }

  /** The changes after a position, if all of them are still kept. */
  changesAfter(revision: bigint): readonly ChangeSet[] | undefined {
    return this.#log.after(revision);
  }

  /** A batch was applied: before the tail brings it, or after, if its own append was answered later. */
  onApplied(applied: AppliedBatch): void {
    const { sequence } = applied;
    const changes = changesOf(applied, this.#render, this.#wantRenewals > 0);
    const place = this.#line.find((awaited) => awaited.sequence === sequence);
    if (place === undefined) {
      this.#pending.set(sequence, changes);
      if (this.#pending.size > this.#options.pendingBatches) this.#startOver(sequence);
      return;
    }
    place.changes = changes;
    place.isSettled = true;
    this.#tellSettled();
  }

  /**
   * The tail has brought a message, after the partition took it. One that is not applied is an append of this replica's
   * own whose answer is still on its way: what comes after it in the log waits for it.
   */
  onTailed(sequence: bigint, isSettled: boolean): void {
    const changes = this.#pending.get(sequence);
    this.#pending.delete(sequence);
    this.#line.push({ sequence, changes, isSettled });
    if (this.#line.length > this.#options.pendingBatches) this.#startOver(sequence);
    this.#tellSettled();
  }

  /** The replica has been loaded up to a position: what was before it is not known change by change. */
  startFrom(revision: bigint): void {
    this.#log.restart(revision);
  }

  /** A partition was loaded anew: what happened in between is not known change by change. */
  onReloaded(): void {
    this.#startOver(this.#revision);
  }

  #tellSettled(): void {
    let told = 0;
    for (const { changes, isSettled, sequence } of this.#line) {
      if (!isSettled) break;
      told += 1;
      if (sequence > this.#revision) this.#revision = sequence;
      if (changes !== undefined) this.#tell(changes);
    }
    if (told > 0) this.#line = this.#line.slice(told);
  }

  #tell(changes: ChangeSet): void {
    this.#log.add(changes);
    for (const listener of [...this.#listeners]) listener.onChanges(changes);
  }

  #startOver(revision: bigint): void {
    this.#pending.clear();
    this.#line = [];
    this.#log.restart(revision);
    for (const listener of [...this.#listeners]) listener.onGap();
  }
}
