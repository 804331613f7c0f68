import {
  type Concerns,
  collisionOf,
  copyOfLease,
  departureOf,
  expiredSinceMs,
  isIdentityRecord,
  type LeaseKey,
  type LeaseRecord,
  type Liveness,
  leaseKey,
  lifeSightOf,
  livenessAt,
  nameOf,
  type PartitionState,
  partitionOf,
  untilLivenessChangesMs,
} from "@tenure/core";
import { type Clock, TimerWheel } from "@tenure/kernel";
import type { ChangeListener, ChangeSet, WatchHub } from "@tenure/reader";
import { profileOf } from "../record/identity-to-wire.ts";

/** What happened to an instance. */
export type IdentityChange = "joined" | "live" | "silent" | "left" | "collected" | "changed";

/** One change of one identity. */
export interface DirectoryEvent {
  readonly change: IdentityChange;
  /** The record after the change; its last state if it is gone. */
  readonly record: LeaseRecord;
  readonly partition: number;
  readonly liveness: Liveness;
}

/** Told of changes, synchronously and in order. */
export type DirectoryListener = (event: DirectoryEvent) => void;

/** Where the directory reads. */
export interface DirectorySource {
  readonly clock: Clock;
  readonly partitions: number;
  readonly hub: WatchHub;
  stateOf(partition: number): PartitionState;
}

/** Told how old the last beat of an instance was whenever it is looked at: a sample of the fleet's beats. */
export type BeatSample = (ageMs: number) => void;

interface Entry {
  readonly id: string;
  readonly key: LeaseKey;
  readonly partition: number;
  readonly component: string;
  liveness: Liveness;
  token: bigint;
  text: string;
  isColliding: boolean;
  /** The last record that was seen, for who must be told when it is gone. */
  last: LeaseRecord;
}

/** How many instances of a component there are, by liveness. */
export type LivenessCounts = Record<Liveness, number>;

/**
 * Who is there, from the log and this replica's own sight of beats. Beats cost it nothing: the read model notes when it
 * saw each, and an instance is looked at only when it would have fallen silent; one that has beaten since is set again.
 */
export class Directory implements ChangeListener, Disposable {
  readonly namespace: string;
  readonly #source: DirectorySource;
  readonly #onSample: BeatSample;
  readonly #entries = new Map<string, Entry>();
  readonly #counts = new Map<string, LivenessCounts>();
  /** Ids that are expired or gone: what collection has to do with. */
  readonly #ended = new Set<string>();
  readonly #listeners = new Set<DirectoryListener>();
  readonly #wheel: TimerWheel<string>;
  readonly #unfollow: () => void;

  constructor(source: DirectorySource, namespace: string, onSample: BeatSample = () => {}) {
    this.namespace = namespace;
    this.#source = source;
    this.#onSample = onSample;
    this.#wheel = new TimerWheel(source.clock, (id) => this.#look(id), 20);
    const prefix = `${namespace}/`;
    const concerns: Concerns = ({ lease }) => lease.startsWith(prefix);
    this.#unfollow = source.hub.follow(this, { concerns, wantsRenewals: false });
    this.onGap();
  }

  /** Identities in all, those that have gone not counted. */
  get total(): number {
    let gone = 0;
    for (const counts of this.#counts.values()) gone += counts.gone;
    return this.#entries.size - gone;
  }

  /** Instances per component; a component without any is left out. */
  get counts(): ReadonlyMap<string, LivenessCounts> {
    return this.#counts;
  }

  /** The ids that are past their validity, or gone and not yet removed. */
  get ended(): Iterable<string> {
    return this.#ended;
  }

  /** Every id, in no order. */
  get ids(): Iterable<string> {
    return this.#entries.keys();
  }

  /** The record of an identity, as the log has it by now. */
  recordOf(id: string): LeaseRecord | undefined {
    const key = leaseKey(this.namespace, id);
    const record = this.#source.stateOf(this.partitionOf(key)).leases.get(key);
    return record !== undefined && isIdentityRecord(record, this.namespace) ? record : undefined;
  }

  partitionOf(key: LeaseKey): number {
    return partitionOf(key, this.#source.partitions);
  }

  /** Since when an identity is past its validity; undefined if it is not, or not there. */
  expiredSinceMs(id: string): number | undefined {
    const record = this.recordOf(id);
    if (record === undefined) return undefined;
    return expiredSinceMs(lifeSightOf(record, profileOf(record).beatIntervalMs), this.#source.clock.now());
  }

  /** Tells of every later change; returns what ends that. */
  follow(listener: DirectoryListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  onChanges({ leases }: ChangeSet): void {
    const prefix = `${this.namespace}/`;
    for (const { key } of leases) if (key.startsWith(prefix)) this.#update(key);
  }

  /** Changes were missed: everything is read again, and what differs is told. */
  onGap(): void {
    const prefix = `${this.namespace}/`;
    const keys = new Set<LeaseKey>([...this.#entries.values()].map(({ key }) => key));
    for (let partition = 0; partition < this.#source.partitions; partition += 1) {
      for (const key of this.#source.stateOf(partition).leases.keys()) if (key.startsWith(prefix)) keys.add(key);
    }
    for (const key of keys) this.#update(key);
  }

  [Symbol.dispose](): void {
    this.#unfollow();
    this.#wheel[Symbol.dispose]();
    this.#listeners.clear();
  }

  #update(key: LeaseKey): void {
    const id = nameOf(key);
    const record = this.recordOf(id);
    const entry = this.#entries.get(id);
    if (record === undefined) {
      if (entry !== undefined) this.#remove(entry);
    } else if (entry === undefined) this.#add(id, record);
    else this.#change(entry, record);
  }

  #add(id: string, record: LeaseRecord): void {
    const { profile, text } = profileOf(record);
    const partition = this.partitionOf(record.key);
    const liveness = this.#livenessOf(record);
    const token = record.lastToken;
    const entry = { id, key: record.key, partition, component: profile.component, liveness, token, text };
    this.#entries.set(id, { ...entry, isColliding: false, last: copyOfLease(record) });
    this.#count(entry.component, liveness, 1);
    this.#note(id, liveness);
    if (liveness !== "gone") this.#tell("joined", record, partition, liveness);
    this.#schedule(id, record);
  }

  #change(entry: Entry, record: LeaseRecord): void {
    const { text } = profileOf(record);
    const wasGone = entry.liveness === "gone";
    const isNews = entry.token !== record.lastToken || entry.text !== text;
    entry.token = record.lastToken;
    entry.text = text;
    entry.last = copyOfLease(record);
    this.#judge(entry, record);
    if (wasGone && entry.liveness !== "gone") this.#tell("joined", record, entry.partition, entry.liveness);
    else if (isNews && entry.liveness !== "gone") this.#tell("changed", record, entry.partition, entry.liveness);
    this.#schedule(entry.id, record);
  }

  /** Looks at how alive an instance is, and tells if that changed. */
  #judge(entry: Entry, record: LeaseRecord): void {
    const before = entry.liveness;
    const liveness = this.#livenessOf(record);
    const isColliding = this.#isColliding(record);
    if (isColliding !== entry.isColliding) {
      entry.isColliding = isColliding;
      if (liveness === before) this.#tell("changed", record, entry.partition, liveness);
    }
    if (liveness === before) return;
    entry.liveness = liveness;
    this.#count(entry.component, before, -1);
    this.#count(entry.component, liveness, 1);
    this.#note(entry.id, liveness);
    if (before === "gone") return;
    if (liveness === "gone") this.#tell(departureOf(record) ?? "left", record, entry.partition, liveness);
    else if (liveness === "live") this.#tell("live", record, entry.partition, liveness);
    else if (before === "live") this.#tell("silent", record, entry.partition, liveness);
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.id);
    this.#wheel.delete(entry.id);
    this.#ended.delete(entry.id);
    this.#count(entry.component, entry.liveness, -1);
    // Who left by itself was told of when it did; who vanishes while it lives was removed by someone's hand.
    if (entry.liveness === "gone") return;
    this.#tell(entry.liveness === "live" ? "left" : "collected", entry.last, entry.partition, "gone");
  }

  /** An instance would have fallen silent or expired by now, had it not beaten. */
  #look(id: string): void {
    const entry = this.#entries.get(id);
    const record = this.recordOf(id);
    if (entry === undefined || record === undefined) return;
    const hold = record.holds.at(-1);
    if (hold !== undefined) this.#onSample(Math.max(0, this.#source.clock.now() - hold.renewal.seenAtMs));
    this.#judge(entry, record);
    this.#schedule(id, record);
  }

  #schedule(id: string, record: LeaseRecord): void {
    const { beatIntervalMs } = profileOf(record);
    const nextMs = untilLivenessChangesMs(lifeSightOf(record, beatIntervalMs), this.#source.clock.now());
    if (nextMs === undefined) {
      this.#wheel.delete(id);
      return;
    }
    // One that is silent is looked at twice per beat: nothing else tells that it beats again.
    const isSilent = this.#entries.get(id)?.liveness === "silent";
    this.#wheel.set(id, isSilent ? Math.min(nextMs, beatIntervalMs / 2) : nextMs);
  }

  #livenessOf(record: LeaseRecord): Liveness {
    return livenessAt(lifeSightOf(record, profileOf(record).beatIntervalMs), this.#source.clock.now());
  }

  #isColliding(record: LeaseRecord): boolean {
    return collisionOf(record, profileOf(record).beatIntervalMs, this.#source.clock.now()) !== undefined;
  }

  #note(id: string, liveness: Liveness): void {
    if (liveness === "expired" || liveness === "gone") this.#ended.add(id);
    else this.#ended.delete(id);
  }

  #count(component: string, liveness: Liveness, difference: number): void {
    const counts = this.#counts.get(component) ?? { live: 0, silent: 0, expired: 0, gone: 0 };
    counts[liveness] += difference;
    if (counts.live + counts.silent + counts.expired + counts.gone > 0) this.#counts.set(component, counts);
    else this.#counts.delete(component);
  }

  #tell(change: IdentityChange, record: LeaseRecord, partition: number, liveness: Liveness): void {
    if (this.#listeners.size === 0) return;
    const event = { change, record: copyOfLease(record), partition, liveness };
    for (const listener of [...this.#listeners]) listener(event);
  }
}
