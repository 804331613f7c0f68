import { BeforeImages, type Concerns, type LeaseKey, type PartitionState } from "@tenure/core";
import type { Clock, Fault } from "@tenure/kernel";
import { ChangeLog } from "./change-log.ts";
import { type AppliedBatch, type ChangeSet, changesOf, forgetChanges } from "./change-set.ts";
import { partitionHalted } from "./faults.ts";
import { ListenerIndex } from "./listener-index.ts";
import { NameIndex } from "./name-index.ts";
import { PastKeeping } from "./past-keeping.ts";
import { RevisionWaiters } from "./revision-waiters.ts";

/** One who follows the changes. Told synchronously, in the order of the log. */
export interface ChangeListener {
  onChanges(changes: ChangeSet): void;
  /** Changes were missed: the present state has to be read again. */
  onGap(): void;
  /** Nothing more will be told of a partition. */
  onHalted?(partition: number, fault: Fault): void;
}

/** What a listener wants to be told. */
export interface Interest {
  /** Only of these leases and their candidates; absent is all. */
  readonly leases?: readonly LeaseKey[] | undefined;
  /** Of all leases, only what this says yes to, unless it is told for somebody else's sake; absent is everything. */
  readonly concerns?: Concerns | undefined;
  readonly wantsRenewals: boolean;
}

/** Bounds of what is kept. */
export interface WatchHubOptions {
  readonly clock: Clock;
  readonly partitions: number;
  /** Changed records that are kept for watches that resume and lists that go on; 0 where there are none. */
  readonly keptChanges: number;
  /** What the past is shown of; everything when absent. The rest is only told, to those whom it concerns. */
  readonly keeps?: Concerns | undefined;
  /**
   * A past that spans less than this is not kept, unless somebody needs it. Absent where it is always kept, as it must be
   * where batches are applied before the tail brings them: they are taken back to show what was told.
   */
  readonly leastPastMs?: number | undefined;
  /** Batches of this process's own that wait for the tail; when it stands still for longer, watches start over. */
  readonly pendingBatches: number;
  /** Told when somebody begins to listen, or to wait for what the tail has not brought. */
  readonly onAwaited?: (() => void) | undefined;
}

interface Place {
  readonly sequence: bigint;
  changes: ChangeSet | undefined;
  isSettled: boolean;
}

/**
 * Feeds every watch and list from one tail of the log. Changes leave in the order of the log over all partitions: what
 * this process committed itself is kept back until the tail has passed it. While a partition is being loaded nothing is
 * told and the revision stands still; then everybody starts over, so no revision ever stands for changes that were not
 * told.
 */
export class WatchHub {
  readonly #options: WatchHubOptions;
  readonly #log: ChangeLog;
  readonly #listeners = new ListenerIndex<ChangeListener>();
  readonly #renewalListeners = new ListenerIndex<ChangeListener>();
  readonly #waiters: RevisionWaiters;
  readonly #past: PastKeeping | undefined;
  /** What changes are made of; everything when absent. */
  readonly #concerns: Concerns | undefined;
  /** By state, because one that is loaded anew is another. */
  readonly #names = new WeakMap<PartitionState, NameIndex>();
  /** Partitions that are being loaded. */
  readonly #loading = new Set<number>();
  /** Applied and not yet brought by the tail. */
  readonly #pending = new Map<bigint, ChangeSet>();
  /** Brought by the tail and not yet told, in the order of the log: the first waits for its own append's answer. */
  #line: Place[] = [];
  /** The last message that the tail brought. */
  #tailed = 0n;
  /** Facts that were applied and are not counted yet. */
  #facts = 0;
  #revision = 0n;

  constructor(options: WatchHubOptions) {
    this.#options = options;
    const { clock, keptChanges, leastPastMs: leastMs } = options;
    this.#log = new ChangeLog(keptChanges);
    this.#past = leastMs === undefined ? undefined : new PastKeeping({ clock, keptChanges, leastMs });
    const keeps = keptChanges === 0 ? () => false : this.#keepsOf(options.keeps);
    const { concerns } = this.#listeners;
    this.#concerns = keeps && ((event, record) => keeps(event, record) || concerns(event, record));
    this.#waiters = new RevisionWaiters(options.clock);
    for (let partition = 0; partition < options.partitions; partition += 1) this.#loading.add(partition);
  }

  /** Everything up to this position has been told. */
  get revision(): bigint {
    return this.#revision;
  }

  /** Listeners, of watches and of news. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Whether somebody waits for what the tail has not brought. */
  get isAwaited(): boolean {
    return this.#waiters.size > 0;
  }

  /** Whether every partition is followed. */
  get isFollowing(): boolean {
    return this.#loading.size === 0;
  }

  /** The oldest position that the past can be shown at. */
  get floor(): bigint {
    return this.#isPastKept ? this.#log.floor : this.#tailed;
  }

  /** Somebody is going to ask for what changes from now on: it is kept for a while, however much it is. */
  keepPast(): void {
    if (this.#past?.need() === true) this.#log.restart(this.#tailed);
  }

  /** Tells a listener of every later change that it is interested in; returns what ends that. */
  follow(listener: ChangeListener, { concerns, leases, wantsRenewals }: Interest): () => void {
    const leave = this.#listeners.add(listener, leases, concerns);
    const leaveRenewals = wantsRenewals ? this.#renewalListeners.add(listener, leases) : undefined;
    this.#options.onAwaited?.();
    return () => {
      leave();
      leaveRenewals?.();
    };
  }

  /**
   * Resolves when everything up to `revision` has been told and the present can be shown; UNAVAILABLE with
   * REPLICA_BEHIND after `timeoutMs`.
   */
  reach(revision: bigint, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const reached = this.#waiters.reach(revision, timeoutMs, signal, () => this.#shownUpTo);
    if (this.isAwaited) this.#options.onAwaited?.();
    return reached;
  }

  /** The changes after a position, oldest first, if all of them are still kept. */
  changesAfter(revision: bigint): readonly ChangeSet[] | undefined {
    return revision < this.floor ? undefined : this.#log.after(revision);
  }

  /**
   * What a partition's state shows beyond a position, oldest first, so that it can be taken back; undefined when some
   * of it is no longer kept. Asked in the same step in which the state is read.
   */
  laterThan(revision: bigint, partition: number): readonly ChangeSet[] | undefined {
    const told = this.changesAfter(revision);
    if (told === undefined || !this.isFollowing) return undefined;
    const waiting = this.#line.flatMap(({ changes }) => changes ?? []);
    const ahead = [...this.#pending.values()].sort((left, right) => (left.sequence < right.sequence ? -1 : 1));
    return [...told, ...waiting, ...ahead].filter((set) => set.partition === partition && set.sequence > revision);
  }

  /** The names of a partition in order. */
  namesOf(state: PartitionState): readonly LeaseKey[] {
    const index = this.#names.get(state) ?? new NameIndex();
    this.#names.set(state, index);
    return index.of(state);
  }

  /** A batch was applied: before the tail brings it, or after, if its own append was answered later. */
  onApplied(applied: AppliedBatch): void {
    const { events, sequence, state } = applied;
    this.#facts += events.length;
    if (state.before === undefined) {
      this.#lose(applied);
      return;
    }
    const wants = this.#renewalListeners.size === 0 ? undefined : this.#wantsRenewals;
    const changes = changesOf(applied, state.before, this.#options.clock.now(), wants);
    this.#names.get(state)?.note(events, state);
    if (!this.isFollowing || sequence <= this.#log.floor) {
      forgetChanges(changes);
      return;
    }
    const place = this.#line.find((awaited) => awaited.sequence === sequence);
    if (place === undefined) {
      this.#pending.set(sequence, changes);
      if (this.#pending.size > this.#options.pendingBatches) this.#startOver();
      return;
    }
    place.changes = changes;
    place.isSettled = true;
    this.#tellSettled();
  }

  /**
   * The tail has brought a message, after the partition took it. One that is not applied is an append of this process's
   * own whose answer is still on its way: what comes after it in the log waits for it.
   */
  onTailed(sequence: bigint, isSettled: boolean): void {
    if (sequence > this.#tailed) this.#tailed = sequence;
    if (!this.isFollowing) return;
    const changes = this.#pending.get(sequence);
    this.#pending.delete(sequence);
    // The one with which a partition had caught up is part of what everybody starts over with.
    if (sequence === this.#revision) return;
    if (sequence < this.#revision) {
      // A server that was behind when the partition was loaded: what everybody was told as complete was not.
      this.#startOver();
      return;
    }
    this.#line.push({ sequence, changes, isSettled });
    if (this.#line.length > this.#options.pendingBatches) this.#startOver();
    this.#tellSettled();
    // Between two batches, so that one is kept as a whole or not at all.
    if (this.#past?.note(this.#facts) === true) this.#log.restart(this.#tailed);
    this.#facts = 0;
  }

  /** A partition is being loaded anew: until it is followed again nothing is told. */
  onLoading(partition: number): void {
    this.#loading.add(partition);
  }

  /** A partition has been loaded and everything that the log had was read; its state is kept track of from here on. */
  onFollowing(state: PartitionState): void {
    if (!this.#loading.has(state.partition)) return;
    state.before ??= new BeforeImages(this.#concerns);
    state.before.take();
    this.#names.get(state)?.forget();
    if (state.lastSequence > this.#tailed) this.#tailed = state.lastSequence;
    this.#loading.delete(state.partition);
    if (this.isFollowing) this.#startOver();
  }

  /** A partition halted: it is not waited for, and whoever follows it is told. */
  onHalted(partition: number, why: string): void {
    const fault = partitionHalted(partition, why);
    for (const listener of this.#listeners.all()) listener.onHalted?.(partition, fault);
    // A batch that waits in the line may wait for the answer to an append of this partition, which will not come.
    const isWaitedFor = this.#loading.delete(partition) || this.#line.length > 0;
    if (isWaitedFor && this.isFollowing) this.#startOver();
  }

  readonly #wantsRenewals = (lease: LeaseKey): boolean => this.#renewalListeners.has(lease);

  /** How far the present can be shown; undefined while it cannot. */
  get #shownUpTo(): bigint | undefined {
    return this.isFollowing && this.#revision >= this.#log.floor ? this.#revision : undefined;
  }

  /** A batch was applied of which nothing is known but the state after it. */
  #lose({ sequence, state }: AppliedBatch): void {
    this.#names.get(state)?.forget();
    state.before = new BeforeImages(this.#concerns);
    if (this.isFollowing) this.#startOver(sequence);
  }

  #tellSettled(): void {
    let told = 0;
    for (const { changes, isSettled, sequence } of this.#line) {
      if (!isSettled) break;
      told += 1;
      if (sequence > this.#revision) this.#revision = sequence;
      if (changes !== undefined) this.#tell(changes);
    }
    if (told === 0) return;
    this.#line = told === this.#line.length ? [] : this.#line.slice(told);
    this.#waiters.wake(this.#shownUpTo);
  }

  get #isPastKept(): boolean {
    return this.#options.keptChanges > 0 && this.#past?.isKept !== false;
  }

  #keepsOf(keeps: Concerns | undefined): Concerns | undefined {
    const past = this.#past;
    if (past === undefined) return keeps;
    return (event, record) => past.isKept && keeps?.(event, record) !== false;
  }

  #tell(changes: ChangeSet): void {
    if (this.#isPastKept) this.#log.add(changes);
    else forgetChanges(changes);
    const { candidates, leases, renewedCandidates, renewedLeases } = changes;
    const told = new Set<ChangeListener>();
    collect(this.#listeners, [leases, candidates], told);
    collect(this.#renewalListeners, [renewedLeases, renewedCandidates], told);
    for (const listener of told) listener.onChanges(changes);
  }

  /** What was applied beyond the tail cannot be taken back any more, so the present is shown once the tail is there. */
  #startOver(lost = 0n): void {
    let floor = lost > this.#tailed ? lost : this.#tailed;
    for (const [sequence, changes] of this.#pending) {
      if (sequence > floor) floor = sequence;
      forgetChanges(changes);
    }
    for (const { changes } of this.#line) if (changes !== undefined) forgetChanges(changes);
    this.#pending.clear();
    this.#line = [];
    this.#log.restart(floor);
    this.#revision = this.#tailed;
    for (const listener of this.#listeners.all()) listener.onGap();
    this.#waiters.wake(this.#shownUpTo);
  }
}

function collect(
  index: ListenerIndex<ChangeListener>,
  groups: readonly (readonly { readonly key: LeaseKey }[])[],
  into: Set<ChangeListener>,
): void {
  if (index.size === 0 || groups.every(({ length }) => length === 0)) return;
  index.collectUnbound(into);
  for (const group of groups) for (const { key } of group) index.collect(key, into);
}
