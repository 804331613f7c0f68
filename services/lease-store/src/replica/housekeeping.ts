import {
  beatWaiter,
  type Event,
  endOverdueWaits,
  execute,
  type LeaseKey,
  type OwnedPartition,
  remainingMs,
  type Settled,
  type SnapshotReference,
  stir,
  stirDue,
  untilDueMs,
} from "@tenure/core";
import type { ReplicaOptions } from "./options.ts";
import type { ReplicaPorts } from "./ports.ts";

/** Forgotten names per batch, so that tidying up never fills one. */
const forgottenPerBatch = 100;
/** The shortest wait before a lease is judged again. */
const shortestRetryMs = 10;

const none: readonly never[] = Object.freeze([]);

/** What an owner asks of its own partition, without any caller: its records in the log, expiry, and tidying up. */
export class Housekeeping {
  readonly #owned: OwnedPartition;
  readonly #options: ReplicaOptions;
  readonly #principal: string;
  /** Names without a lease, with when they were seen to have none; oldest first. */
  readonly #forgettable = new Map<LeaseKey, number>();
  /** When the terms were due that the open batch ends by time. */
  #dueAtMs: number[] = [];
  #sweepDue = false;
  #announcement: SnapshotReference | undefined;

  constructor(owned: OwnedPartition, ports: ReplicaPorts, options: ReplicaOptions) {
    this.#owned = owned;
    this.#options = options;
    this.#principal = "";
    const now = ports.clock.now();
    for (const record of owned.state.leases.values()) {
      if (record.created === undefined) this.#forgettable.set(record.key, now);
    }
  }

  /** Writes the epoch's record, and the settings if they are others than the partition's, into the open batch. */
  begin(epoch: bigint, isHandedOver: boolean): void {
    const { instance: owner, settings } = this.#options;
    const { seenAtMs } = this.#owned.batch.position;
    execute(this.#owned, { kind: "takeOver", epoch, owner, isHandedOver, principal: this.#principal }, seenAtMs);
    execute(this.#owned, { kind: "changeSettings", settings, principal: this.#principal }, seenAtMs);
  }

  /** Writes the last record of the epoch into the open batch. */
  end(successor: string): void {
    const { seenAtMs } = this.#owned.batch.position;
    execute(this.#owned, { kind: "handOver", successor, principal: this.#principal }, seenAtMs);
  }

  /** Has the next batch announce a snapshot that is complete. */
  announce(snapshot: SnapshotReference): void {
    this.#announcement = snapshot;
  }

  beat(waiterId: string, beatNumber: bigint, now: number): boolean {
    return beatWaiter(this.#owned, waiterId, beatNumber, now);
  }

  /**
   * Judges one due lease. Undefined: nothing more is due. A number: judge again after so many ms. `nextBatch`: after
   * the append of this batch, which proves that the store answers.
   */
  expire(lease: LeaseKey, now: number): number | "nextBatch" | undefined {
    const record = this.#owned.state.leases.get(lease);
    if (record === undefined) return undefined;
    // A lock delay may have ended: whoever waits for it is looked at again.
    stir(this.#owned, lease);
    const dueMs = untilDueMs(record, now);
    if (dueMs === undefined || dueMs > 0) return dueMs;
    const dueAtMs = record.holds.map((hold) => hold.renewal.seenAtMs + hold.leaseDurationMs);
    const reply = execute(this.#owned, { kind: "expire", lease, principal: this.#principal }, now);
    if (reply.kind === "nextBatch") return "nextBatch";
    if (reply.kind === "changed") this.#dueAtMs.push(...dueAtMs.filter((atMs) => atMs <= now));
    if (reply.kind !== "notDue") return undefined;
    return reply.needsProbe ? "nextBatch" : Math.max(shortestRetryMs, reply.retryAfterMs);
  }

  /** How long before `now`, the commit of the batch, the terms were due that the owner ended in it by time. */
  takeExpiryLags(now: number): readonly number[] {
    if (this.#dueAtMs.length === 0) return none;
    const lagsMs = this.#dueAtMs.map((dueAtMs) => now - dueAtMs);
    this.#dueAtMs = [];
    return lagsMs;
  }

  /** Notes names that lost their lease, or the last thing that was known of them. */
  noteEvents(events: readonly Event[], now: number): void {
    for (const event of events) {
      if (event.kind !== "leaseDeleted" && event.kind !== "holdEnded" && event.kind !== "candidateRemoved") continue;
      if (this.#owned.state.leases.get(event.lease)?.created !== undefined) continue;
      this.#forgettable.delete(event.lease);
      this.#forgettable.set(event.lease, now);
    }
  }

  /** Called at intervals; whether a batch has anything to do for it. */
  sweep(now: number): boolean {
    this.#sweepDue = this.#owned.waiters.byId.size > 0;
    stirDue(this.#owned, now);
    for (const lease of this.#owned.waiters.queues.keys()) {
      // What waits for a coordinator that may yet go away has neither an event nor an instant of its own.
      if ((this.#owned.state.leases.get(lease)?.holds.length ?? 0) === 0) stir(this.#owned, lease);
    }
    return this.#sweepDue || this.#isRecovered(now) || this.#oldestForgettable(now) !== undefined;
  }

  /** The waits that have ended; looked for once per sweep, because it looks at all of them. */
  endWaits(now: number): readonly Settled[] {
    if (!this.#sweepDue) return [];
    this.#sweepDue = false;
    return endOverdueWaits(this.#owned, now);
  }

  /** Takes what is due of tidying up into the open batch. */
  tidy(now: number): void {
    const principal = this.#principal;
    if (this.#announcement !== undefined) {
      execute(this.#owned, { kind: "announceSnapshot", snapshot: this.#announcement, principal }, now);
      this.#announcement = undefined;
    }
    if (this.#isRecovered(now)) execute(this.#owned, { kind: "endRecovery", principal }, now);
    const leases: LeaseKey[] = [];
    for (let lease = this.#oldestForgettable(now); lease !== undefined; lease = this.#oldestForgettable(now)) {
      if (leases.length === forgottenPerBatch) break;
      this.#forgettable.delete(lease);
      leases.push(lease);
    }
    if (leases.length === 0) return;
    execute(this.#owned, { kind: "removeTombstones", leases, principal }, now);
    // What something still stands on is looked at again later.
    for (const lease of leases) if (this.#owned.state.leases.has(lease)) this.#forgettable.set(lease, now);
  }

  #isRecovered(now: number): boolean {
    const { recovery } = this.#owned.state;
    return recovery !== undefined && remainingMs(recovery.from, recovery.holdOffMs, now) === 0;
  }

  #oldestForgettable(now: number): LeaseKey | undefined {
    const [oldest] = this.#forgettable;
    if (oldest === undefined || now - oldest[1] < this.#options.tombstoneRetentionMs) return undefined;
    return oldest[0];
  }
}
