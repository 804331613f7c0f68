import type { Bus } from "@tenure/bus";
import { type LeaseKey, type LeaseRecord, type PartitionState, partitionOf } from "@tenure/core";
import type { Clock, Random } from "@tenure/kernel";
import { BusLogReader, LeaseNews, Watches, type WatchLimits } from "@tenure/reader";
import { type LeaseNumbers, LeaseTally } from "./lease-tally.ts";
import { plainReads } from "./plain-reads.ts";
import { watchMethods } from "./watch-methods.ts";

/** What reading the store needs. */
export interface StoreReadsOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly incarnation: { readonly id: string; readonly partitions: number };
  readonly limits: StoreReadLimits;
  /** Told of each lease that had candidates and no holder, and has one: for how long it had none. */
  onLed(leaderlessMs: number): void;
  /** Told what the reader lives with: for the log of the process. */
  note(what: object, message: string): void;
}

/** Bounds of what is kept and served. */
export interface StoreReadLimits extends WatchLimits {
  /** Changed records that are kept for watches that resume and lists that go on. */
  readonly keptChanges: number;
}

/** How a call is bounded. */
export interface ReadScope {
  readonly signal: AbortSignal;
}

/** A running term. */
export interface TermName {
  readonly lease: LeaseKey;
  readonly token: bigint;
  readonly principal: string;
}

/**
 * What the gateway answers itself, from one tail of the log however many clients there are: plain reads, lists, watches
 * and news. What it shows is committed, in the log's order, and may be behind: a client that names the revision it has
 * seen never goes back.
 */
export interface StoreReads extends AsyncDisposable {
  /** Whether every partition is followed. */
  readonly isReady: boolean;
  /** Everything up to this log position has been read. */
  readonly revision: bigint;
  /** Open watches. */
  readonly watches: number;
  /** How many leases stand how; undefined while not every partition is followed and looked through. */
  readonly numbers: LeaseNumbers | undefined;
  /** Tells whether every partition is followed and why not, at once and on each change. */
  onReady(listener: (isReady: boolean, why: string) => void): () => void;
  /** Tells of the owner's epoch of each partition, at once and on each change. */
  onOwner(listener: (partition: number, epoch: bigint) => void): () => void;
  /**
   * A plain read by its full method, such as `LeaseService.Get`. Undefined when it cannot be answered here: another
   * method, or a linearizable read, which is the owner's. Rejects with a fault.
   */
  unary(method: string, request: Uint8Array, scope: ReadScope): Promise<Uint8Array> | undefined;
  /** A watch by its full method; undefined for another. The bytes are shared by all watchers: never write into them. */
  stream(method: string, request: Uint8Array, signal: AbortSignal): AsyncIterable<Uint8Array> | undefined;
  /** News of leases, for sessions. */
  readonly news: Pick<LeaseNews, "follow">;
  /** The running term of a lease by its token. */
  holdOf(lease: LeaseKey, token: bigint): { readonly holdId: number; readonly partition: number } | undefined;
  /** What is kept under a lease's name, to be read at once and not kept. */
  recordOf(lease: LeaseKey): LeaseRecord | undefined;
  /** Has the log read at once from now on, for one who looks at records again and again; returns what ends that. */
  attend(): () => void;
  /** What a running term belongs to. */
  termOf(partition: number, holdId: number): TermName | undefined;
}

/** While nobody is to be told of changes the log is read in this rhythm, and whenever a client reads. */
const restMs = 100;

/** A watch that was cut off takes about this long to come back. */
const leastPastMs = 1_000;

/** Begins to read the log. It answers UNAVAILABLE until it has caught up; `onReady` says when. */
export async function startStoreReads(options: StoreReadsOptions): Promise<StoreReads> {
  const reads = new ReaderReads(options);
  await reads.start();
  return reads;
}

class ReaderReads implements StoreReads {
  readonly news: LeaseNews;
  readonly #reader: BusLogReader;
  readonly #watches: Watches;
  readonly #tally: LeaseTally;
  readonly #onReady = new Set<(isReady: boolean, why: string) => void>();
  readonly #onOwner = new Set<(partition: number, epoch: bigint) => void>();
  #why = "the log is being read";

  constructor({ limits, onLed, ...options }: StoreReadsOptions) {
    this.#tally = new LeaseTally(options.clock, onLed);
    this.#reader = new BusLogReader(
      {
        ...options,
        keptChanges: limits.keptChanges,
        leastPastMs,
        leftOut: { secrets: true },
        restMs: () => (this.#reader.hub.listeners > 0 ? 0 : restMs),
      },
      {
        onReadiness: (isReady, why) => this.#tellReady(isReady, why),
        onApplied: (applied) => this.#tally.note(applied),
        onOwner: (partition, epoch) => {
          for (const listener of this.#onOwner) listener(partition, epoch);
        },
      },
    );
    this.#watches = new Watches(this.#reader, limits);
    this.news = new LeaseNews(this.#reader.hub);
  }

  start(): Promise<void> {
    return this.#reader.start();
  }

  get isReady(): boolean {
    return this.#reader.isReady;
  }

  get revision(): bigint {
    return this.#reader.revision;
  }

  get watches(): number {
    return this.#watches.open;
  }

  get numbers(): LeaseNumbers | undefined {
    return this.isReady ? this.#tally.numbers : undefined;
  }

  onReady(listener: (isReady: boolean, why: string) => void): () => void {
    this.#onReady.add(listener);
    listener(this.isReady, this.isReady ? "" : this.#why);
    return () => void this.#onReady.delete(listener);
  }

  onOwner(listener: (partition: number, epoch: bigint) => void): () => void {
    this.#onOwner.add(listener);
    for (let partition = 0; partition < this.#reader.partitions; partition += 1) {
      const { epoch } = this.#reader.stateOf(partition);
      if (epoch > 0n) listener(partition, epoch);
    }
    return () => void this.#onOwner.delete(listener);
  }

  unary(method: string, request: Uint8Array, scope: ReadScope): Promise<Uint8Array> | undefined {
    return plainReads.get(method)?.(this.#reader, request, scope);
  }

  stream(method: string, request: Uint8Array, signal: AbortSignal): AsyncIterable<Uint8Array> | undefined {
    return watchMethods.get(method)?.(this.#watches, request, signal);
  }

  holdOf(lease: LeaseKey, token: bigint): { readonly holdId: number; readonly partition: number } | undefined {
    const partition = partitionOf(lease, this.#reader.partitions);
    const hold = this.#reader
      .stateOf(partition)
      .leases.get(lease)
      ?.holds.find((held) => held.token === token);
    return hold && { holdId: hold.id, partition };
  }

  recordOf(lease: LeaseKey): LeaseRecord | undefined {
    return this.#reader.stateOf(partitionOf(lease, this.#reader.partitions)).leases.get(lease);
  }

  termOf(partition: number, holdId: number): TermName | undefined {
    if (partition >= this.#reader.partitions) return undefined;
    const hold = this.#reader.stateOf(partition).holds.get(holdId);
    return hold && { lease: hold.lease.key, token: hold.token, principal: hold.principal };
  }

  attend(): () => void {
    return this.#reader.hub.follow({ onChanges() {}, onGap() {} }, { leases: [], wantsRenewals: false });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#reader[Symbol.asyncDispose]();
  }

  get #states(): readonly PartitionState[] {
    const { partitions } = this.#reader;
    return Array.from({ length: partitions }, (_, partition) => this.#reader.stateOf(partition));
  }

  #tellReady(isReady: boolean, why: string): void {
    this.#why = why;
    if (isReady) this.#tally.follow(this.#states);
    for (const listener of this.#onReady) listener(isReady, why);
  }
}
