import {
  Claimant,
  durationFromMs,
  LeaseServiceAcquireRequest,
  LeaseServiceReleaseRequest,
  LeaseServiceRenewRequest,
  leaseKeyToWire,
} from "@tenure/contracts";
import { defaultTimingPolicy, type LeaseKey, type PartitionState, partitionOf, type Timing } from "@tenure/core";
import { type Clock, Fault, faultCodes, type Timer } from "@tenure/kernel";
import type { ElectionStore } from "../store/election-store.ts";
import { shardLease, shardMoves } from "./shard-moves.ts";

/** What keeping shards stands on. */
export interface ShardKeeperOptions {
  readonly store: Pick<ElectionStore, "acquire" | "release" | "renew">;
  readonly clock: Clock;
  readonly instance: string;
  readonly principal: string;
  readonly shards: number;
  readonly partitions: number;
  readonly leaseDurationMs: number;
  stateOf(partition: number): PartitionState;
  /** Whether the log is followed. */
  isReady(): boolean;
  /** Replicas that are there, this one included. */
  peers(): readonly string[];
  onTaken(shard: number): void;
  /** A shard that had lapsed is held again, by a renewal that was answered late: what happened meanwhile was not heeded. */
  onRegained(shard: number): void;
  onLost(shard: number): void;
}

interface Held {
  readonly token: bigint;
  /** When this replica ceases to act for the shard unless it has renewed; from the send of the last proven renewal. */
  deadlineMs: number;
}

/** H, R and T for an L, with room to spare in every inequality of the protocol. */
export function shardTiming(leaseDurationMs: number): Timing {
  const { rateError, stopBoundMs } = defaultTimingPolicy;
  const usableTermMs = Math.floor((leaseDurationMs / (1 + rateError) - stopBoundMs) * (1 - rateError));
  const sixthMs = Math.max(1, Math.floor(usableTermMs / 6));
  return { leaseDurationMs, usableTermMs, renewIntervalMs: sixthMs, requestTimeoutMs: sixthMs };
}

/**
 * Holds this replica's share of the shards, each by a lease of its own: takes what is free as soon as the log says so,
 * renews all with one call, gives to newcomers, and hands everything over when it stops. Its own deadline decides what
 * it may coordinate, counted from the send (rule 11); more than that rests on the revisions that commands carry.
 */
export class ShardKeeper implements AsyncDisposable {
  readonly #options: ShardKeeperOptions;
  readonly #timing: Timing;
  readonly #leases: readonly LeaseKey[];
  readonly #held = new Map<number, Held>();
  readonly #taking = new Set<number>();
  readonly #freeSinceMs = new Map<number, number>();
  /** The same for those that nobody holds, also while this replica tries to. */
  readonly #unheldSinceMs = new Map<number, number>();
  readonly #work = new Set<Promise<void>>();
  #timer: Timer;
  #sends = 0n;
  #isStopping = false;

  constructor(options: ShardKeeperOptions) {
    this.#options = options;
    this.#timing = shardTiming(options.leaseDurationMs);
    this.#leases = Array.from({ length: options.shards }, (_, shard) => shardLease(shard));
    this.#timer = options.clock.schedule(0, () => this.#tick());
  }

  /** How many shards this replica coordinates now. */
  get size(): number {
    return [...this.#held.keys()].filter((shard) => this.holds(shard)).length;
  }

  /** Shards that nobody has coordinated for this long, as far as this replica sees. */
  freeFor(durationMs: number): readonly number[] {
    const sinceMs = this.#options.clock.now() - durationMs;
    return [...this.#unheldSinceMs].filter(([, unheldSinceMs]) => unheldSinceMs <= sinceMs).map(([shard]) => shard);
  }

  /** Whether this replica coordinates a shard at this very moment. */
  holds(shard: number): boolean {
    const held = this.#held.get(shard);
    return held !== undefined && this.#options.clock.now() < held.deadlineMs;
  }

  /** Whether a lease is that of a shard: its changes are news for the keeper. */
  isShardLease(lease: LeaseKey): boolean {
    return this.#leases.includes(lease);
  }

  /** A shard's lease changed in the log: one that is free now is taken at once. */
  onChanged(): void {
    this.#move();
  }

  /** Hands all shards over. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    this.#timer.cancel();
    await Promise.all(this.#work);
    await this.#release([...this.#held.keys()]);
  }

  #tick(): void {
    const { clock } = this.#options;
    for (const shard of [...this.#held.keys()]) if (!this.holds(shard)) this.#lose(shard);
    this.#do(this.#renew());
    this.#move();
    this.#timer = clock.schedule(this.#timing.renewIntervalMs, () => this.#tick());
  }

  #do(work: Promise<void>): void {
    const tracked = work.finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  #move(): void {
    const { clock, instance, isReady, peers } = this.#options;
    if (this.#isStopping || !isReady()) return;
    const now = clock.now();
    const holders = this.#leases.map((lease, shard) => this.#holderOf(lease, shard));
    holders.forEach((holder, shard) => {
      const isHeld = holder !== "" && (this.#held.has(shard) || !this.#taking.has(shard));
      noteSince(this.#freeSinceMs, shard, holder === "", now);
      noteSince(this.#unheldSinceMs, shard, !isHeld, now);
    });
    const freeForMs = new Map([...this.#freeSinceMs].map(([shard, sinceMs]) => [shard, now - sinceMs]));
    const { give, take } = shardMoves({ self: instance, peers: peers(), holders, freeForMs });
    for (const shard of take) this.#do(this.#take(shard));
    if (give.length > 0) this.#do(this.#release(give));
  }

  /** Who holds a shard: what this replica knows of itself goes before what the log has told by now. */
  #holderOf(lease: LeaseKey, shard: number): string {
    const { instance, partitions, stateOf } = this.#options;
    if (this.#held.has(shard) || this.#taking.has(shard)) return instance;
    const [hold] = stateOf(partitionOf(lease, partitions)).leases.get(lease)?.holds ?? [];
    return hold?.holder ?? "";
  }

  async #take(shard: number): Promise<void> {
    const { clock, instance, onTaken, store } = this.#options;
    const { leaseDurationMs, renewIntervalMs, requestTimeoutMs, usableTermMs } = this.#timing;
    const claimant = Claimant.fromPartial({
      holder: instance,
      timing: {
        leaseDuration: durationFromMs(leaseDurationMs),
        usableTerm: durationFromMs(usableTermMs),
        renewInterval: durationFromMs(renewIntervalMs),
        requestTimeout: durationFromMs(requestTimeoutMs),
      },
    });
    const lease = leaseKeyToWire(shardLease(shard));
    this.#taking.add(shard);
    const sentAtMs = clock.now();
    try {
      const request = LeaseServiceAcquireRequest.fromPartial({ claims: [{ lease }], claimant });
      // An answer that comes late is still of use, and one that nobody waited for blocks the shard for L.
      const { grants } = await store.acquire(request, { ...this.#asking(), deadlineMs: usableTermMs });
      const token = grants[0]?.hold?.token ?? 0n;
      if (token === 0n) return;
      this.#held.set(shard, { token, deadlineMs: sentAtMs + usableTermMs });
      onTaken(shard);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
    } finally {
      this.#taking.delete(shard);
    }
  }

  async #renew(): Promise<void> {
    const { clock, store } = this.#options;
    if (this.#held.size === 0) return;
    this.#sends += 1n;
    const sendNumber = this.#sends;
    const shards = [...this.#held];
    const renewals = shards.map(([shard, { token }]) => ({
      lease: leaseKeyToWire(shardLease(shard)),
      token,
      sendNumber,
    }));
    const sentAtMs = clock.now();
    try {
      const { results } = await store.renew(LeaseServiceRenewRequest.fromPartial({ renewals }), this.#asking());
      results.forEach(({ failure, sendNumber: committed }, place) => {
        const [shard, held] = shards[place] ?? [];
        if (shard === undefined || held === undefined || this.#held.get(shard) !== held) return;
        if (failure === undefined && committed === sendNumber) this.#prolong(shard, held, sentAtMs);
        else if (failure !== undefined && failure.code !== faultCodes.UNAVAILABLE) this.#lose(shard);
      });
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
    }
  }

  #prolong(shard: number, held: Held, sentAtMs: number): void {
    const hadLapsed = !this.holds(shard);
    held.deadlineMs = sentAtMs + this.#timing.usableTermMs;
    if (hadLapsed && this.holds(shard)) this.#options.onRegained(shard);
  }

  async #release(shards: readonly number[]): Promise<void> {
    const items = shards.flatMap((shard) => {
      const held = this.#held.get(shard);
      return held === undefined ? [] : [{ lease: leaseKeyToWire(shardLease(shard)), token: held.token }];
    });
    for (const shard of shards) this.#lose(shard);
    if (items.length === 0) return;
    const request = LeaseServiceReleaseRequest.fromPartial({ items });
    await this.#options.store.release(request, this.#asking()).catch(() => undefined);
  }

  #lose(shard: number): void {
    if (this.#held.delete(shard)) this.#options.onLost(shard);
  }

  #asking() {
    return { principal: this.#options.principal, deadlineMs: this.#timing.requestTimeoutMs };
  }
}

/** Keeps since when something is so. */
function noteSince(sinceMs: Map<number, number>, shard: number, isSo: boolean, now: number): void {
  if (!isSo) sinceMs.delete(shard);
  else if (!sinceMs.has(shard)) sinceMs.set(shard, now);
}
