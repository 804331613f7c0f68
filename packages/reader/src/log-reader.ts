import { type Concerns, lastReadOf, type PartitionState } from "@tenure/core";
import type { Clock } from "@tenure/kernel";
import type { LogTransport, Tail, TailListener } from "@tenure/log";
import type { AppliedBatch } from "./change-set.ts";
import { type FollowerOptions, PartitionFollower } from "./partition-follower.ts";
import type { LoaderPorts } from "./partition-loader.ts";
import type { ReadModel } from "./read-model.ts";
import { WatchHub } from "./watch-hub.ts";

/** What a reader stands on. */
export interface LogReaderPorts extends LoaderPorts {
  readonly transport: Pick<LogTransport, "readLast" | "tail">;
}

/** How a reader behaves. */
export interface LogReaderOptions extends FollowerOptions {
  readonly partitions: number;
  /** Changed records that are kept for watches that resume and lists that go on; 0 where there are none. */
  readonly keptChanges: number;
  /** What the past is shown of; everything when absent. */
  readonly keeps?: Concerns | undefined;
  /** A past that spans less than this is not kept, unless somebody needs it; absent where it always is. */
  readonly leastPastMs?: number | undefined;
  /** How long the reader may rest after what it was told: whoever need not know at once is woken less. Default: not. */
  readonly restMs?: (() => number) | undefined;
}

/** Told of what the log says. Everything is told synchronously; a listener does not throw. */
export interface LogReaderListener {
  /** Whether every partition is followed, and why not; told on each change. */
  onReadiness?(isReady: boolean, why: string): void;
  /** The owner of a partition and its epoch, when it is first known and whenever it changes. */
  onOwner?(partition: number, epoch: bigint, owner: string): void;
  onApplied?(applied: AppliedBatch): void;
  /** Something failed that the reader lives with. */
  onFault?(partition: number, doing: string, fault: unknown): void;
}

/**
 * The log as a read model: every partition in memory, from the newest snapshots and one tail, and a hub that tells of
 * each batch once and in the order of the log. It may be behind the log and says so by its revision; it is never ahead,
 * and it never shows what is not committed.
 */
export class LogReader implements ReadModel, TailListener, AsyncDisposable {
  readonly clock: Clock;
  readonly incarnationId: string;
  readonly partitions: number;
  readonly hub: WatchHub;
  readonly #ports: LogReaderPorts;
  readonly #listener: LogReaderListener;
  readonly #restMs: () => number;
  readonly #followers: readonly PartitionFollower[];
  /** The epochs that were told. */
  readonly #epochs = new Map<number, bigint>();
  #tail: Tail | undefined;
  #isReady = false;

  constructor(ports: LogReaderPorts, options: LogReaderOptions, listener: LogReaderListener = {}) {
    const { incarnationId, keeps, keptChanges, leastPastMs, partitions, restMs = () => 0 } = options;
    this.clock = ports.clock;
    this.incarnationId = incarnationId;
    this.partitions = partitions;
    this.#ports = ports;
    this.#listener = listener;
    this.#restMs = restMs;
    const onAwaited = () => void this.#tail?.hurry();
    // A reader commits nothing itself, so no batch is ever applied before the tail brings it.
    const { clock } = ports;
    this.hub = new WatchHub({ clock, partitions, keptChanges, keeps, leastPastMs, pendingBatches: 1, onAwaited });
    const resume = (partition: number, sequence: bigint) => this.#tail?.resume(partition, sequence);
    const followerListener = {
      onRole: (partition: number) => this.#onRole(partition),
      onApplied: (applied: AppliedBatch) => this.#onApplied(applied),
      onOwner: (partition: number) => this.#tellOwner(partition),
      onFault: (partition: number, doing: string, fault: unknown) => listener.onFault?.(partition, doing, fault),
    };
    this.#followers = Array.from(
      { length: partitions },
      (_, partition) => new PartitionFollower(partition, ports, options, followerListener, resume),
    );
  }

  /** Loads every partition and begins to follow the log. It is ready a moment later, when it has caught up. */
  async start(): Promise<void> {
    const loaded = await Promise.all(
      this.#followers.map(async (follower) => [follower.partition, await follower.load()] as const),
    );
    this.#tail = this.#ports.transport.tail(new Map(loaded), this);
  }

  /** Whether every partition is followed. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Everything up to this log position has been read and told. */
  get revision(): bigint {
    return this.hub.revision;
  }

  /** Since when the log reaches this reader without interruption; undefined while it does not. */
  get liveSinceMs(): number | undefined {
    return this.#tail?.liveSinceMs;
  }

  /** The state of a partition, for who reads at once and keeps nothing. */
  stateOf(partition: number): PartitionState {
    return this.#at(partition).state;
  }

  /** Reads at once what the log has by now, for one who rests. */
  async hurry(): Promise<void> {
    await this.#tail?.hurry();
  }

  async view<Answer>(partition: number, read: (state: PartitionState) => Answer): Promise<Answer> {
    // A reader that rests looks first, so that a client finds what it has just written.
    await this.hurry();
    return this.#at(partition).view(read);
  }

  onMessage(partition: number, sequence: bigint, payload: Uint8Array): void {
    this.#at(partition).onMessage(sequence, payload);
    this.hub.onTailed(sequence, true);
  }

  onCaughtUp(partition: number): void {
    this.#at(partition).onCaughtUp();
  }

  onReset(partition: number, why: string): void {
    this.#at(partition).reload(why);
  }

  onWentBack(partition: number, lastSequence: bigint, toldSequence: bigint): void {
    this.#at(partition).halt(`its log has gone back to ${lastSequence}, but ${toldSequence} was read`);
  }

  /** Nobody who waits is kept waiting by a rest. */
  restMs(): number {
    return this.hub.isAwaited ? 0 : this.#restMs();
  }

  /** What was read before a reload was there. */
  knownUpTo(partition: number): bigint {
    return lastReadOf(this.#at(partition).state).sequence;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tail?.[Symbol.asyncDispose]();
    await Promise.all(this.#followers.map((follower) => follower[Symbol.asyncDispose]()));
  }

  #at(partition: number): PartitionFollower {
    const follower = this.#followers[partition];
    if (follower === undefined) throw new Error(`there is no partition ${partition} of ${this.partitions}`);
    return follower;
  }

  #onRole(partition: number): void {
    const { haltedWhy, role, state } = this.#at(partition);
    if (role === "loading") this.hub.onLoading(partition);
    else if (role === "following") this.hub.onFollowing(state);
    else this.hub.onHalted(partition, haltedWhy);
    this.#tellReadiness();
  }

  #onApplied(applied: AppliedBatch): void {
    this.hub.onApplied(applied);
    this.#listener.onApplied?.(applied);
  }

  #tellOwner(partition: number): void {
    const { epoch, owner } = this.stateOf(partition);
    if (epoch === 0n || this.#epochs.get(partition) === epoch) return;
    this.#epochs.set(partition, epoch);
    this.#listener.onOwner?.(partition, epoch, owner);
  }

  #tellReadiness(): void {
    const behind = this.#followers.filter(({ role }) => role !== "following");
    this.#isReady = behind.length === 0;
    const why = behind
      .map(({ haltedWhy, partition }) => haltedWhy || `partition ${partition} is being read`)
      .join(", ");
    this.#listener.onReadiness?.(this.#isReady, why);
  }
}
