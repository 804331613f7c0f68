import type { Bus } from "@tenure/bus";
import {
  defaultElectionTiming,
  type ElectionTiming,
  type ElectionView,
  type LeaseKey,
  type RankingExpressions,
} from "@tenure/core";
import type { Clock, Random } from "@tenure/kernel";
import type { AppliedBatch, LogReader } from "@tenure/reader";
import type { ElectionStore } from "../store/election-store.ts";
import { Coordinator, type CoordinatorListener } from "./coordinator.ts";
import { DecisionSender, type DecisionStore } from "./decision-sender.ts";
import { LiveStreams } from "./live-streams.ts";
import { ShardKeeper } from "./shard-keeper.ts";
import { shardOf } from "./shard-moves.ts";

/** Told of what coordinating brings about. */
export interface CoordinationListener extends CoordinatorListener {
  onTaken(shard: number): void;
  onLost(shard: number): void;
  /** A decision is not kept for Explain, though it was carried out. */
  onNotRecorded(lease: string, thrown: unknown): void;
}

/** What coordinating stands on. */
export interface CoordinationOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly bus: Pick<Bus, "subscribe">;
  /** Whoever makes the reader passes on to here what it tells. */
  readonly reader: Pick<LogReader, "isReady" | "partitions" | "stateOf">;
  readonly store: DecisionStore & Pick<ElectionStore, "acquire" | "release" | "renew">;
  readonly expressions: RankingExpressions;
  readonly instance: string;
  readonly principal: string;
  readonly shards: number;
  readonly shardLeaseDurationMs: number;
  readonly commandsUnderWay: number;
  readonly timing?: ElectionTiming;
  readonly listener: CoordinationListener;
  /** Replicas that are there, this one included. */
  peers(): readonly string[];
}

/**
 * How late an election may hear of its beginning while the log says much that concerns none, and how late a replica that
 * looks after no lease may hear of the first candidate.
 */
const idleRestMs = 15;
const joblessRestMs = 100;

/** One replica's share of all elections: the shards that it keeps, and a coordinator for the leases in them. */
export class Coordination implements AsyncDisposable {
  readonly #options: CoordinationOptions;
  readonly #live: LiveStreams;
  readonly #coordinator: Coordinator;
  #keeper: ShardKeeper | undefined;
  #followedSinceMs: number | undefined;

  constructor(options: CoordinationOptions) {
    const { bus, clock, expressions, instance, listener, principal, random, reader, store } = options;
    const { commandsUnderWay, shards, timing = defaultElectionTiming } = options;
    const { liveBoundMs } = timing;
    const { onNotRecorded } = listener;
    this.#options = options;
    this.#live = new LiveStreams({ bus, clock, liveBoundMs, onChange: (lease) => this.#coordinator.note(lease) });
    this.#coordinator = new Coordinator(
      {
        clock,
        expressions,
        partitions: reader.partitions,
        stateOf: (partition) => reader.stateOf(partition),
        followedSinceMs: () => this.#followedSinceMs,
        isMine: (lease) => this.#keeper?.holds(shardOf(lease, shards)) ?? false,
        beatsOf: (lease) => this.#live.beatsOf(lease),
        decisions: new DecisionSender({ store, clock, random, instance, principal, onNotRecorded }),
        listener,
        commandsUnderWay,
      },
      timing,
    );
  }

  /** How many shards this replica coordinates now. */
  get shards(): number {
    return this.#keeper?.size ?? 0;
  }

  /** Shards that nobody has coordinated for this long: of their leases nobody is elected. */
  shardsFreeFor(durationMs: number): readonly number[] {
    return this.#keeper?.freeFor(durationMs) ?? [];
  }

  /** How many leases are looked after. */
  get leases(): number {
    return this.#coordinator.size;
  }

  /** How long the reader may rest: not while elections are under way. */
  restMs(): number {
    if (this.#coordinator.isAtWork) return 0;
    return this.leases > 0 ? idleRestMs : joblessRestMs;
  }

  /** What is known of a lease now; undefined while nothing is kept under the name or the log is not followed. */
  viewOf(lease: LeaseKey): ElectionView | undefined {
    return this.#coordinator.viewOf(lease);
  }

  /** Begins to take shards; to be called when the reader has been started. */
  begin(): void {
    const { clock, instance, listener, principal, reader, shardLeaseDurationMs, shards, store } = this.#options;
    this.#keeper = new ShardKeeper({
      store,
      clock,
      instance,
      principal,
      shards,
      partitions: reader.partitions,
      leaseDurationMs: shardLeaseDurationMs,
      stateOf: (partition) => reader.stateOf(partition),
      isReady: () => reader.isReady,
      peers: () => this.#options.peers(),
      onTaken: (shard) => {
        listener.onTaken(shard);
        this.#scan(shard);
      },
      onRegained: (shard) => this.#scan(shard),
      onLost: (shard) => listener.onLost(shard),
    });
  }

  #scan(shard: number): void {
    this.#coordinator.scan((lease) => shardOf(lease, this.#options.shards) === shard);
  }

  /** The log is followed, or not any more. What was missed in between is looked at again. */
  onReadiness(isReady: boolean): void {
    if (!isReady) {
      this.#followedSinceMs = undefined;
      return;
    }
    if (this.#followedSinceMs !== undefined) return;
    this.#followedSinceMs = this.#options.clock.now();
    this.#coordinator.scan(() => true);
  }

  /** A batch of the log was applied. */
  onApplied(applied: AppliedBatch): void {
    this.#coordinator.onApplied(applied);
    const keeper = this.#keeper;
    const isOfShard = applied.events.some((event) => event.kind === "holdEnded" && keeper?.isShardLease(event.lease));
    if (isOfShard) keeper?.onChanged();
  }

  /** Shards are handed over, so that others go on at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#coordinator[Symbol.dispose]();
    await this.#keeper?.[Symbol.asyncDispose]();
    this.#live[Symbol.dispose]();
  }
}
