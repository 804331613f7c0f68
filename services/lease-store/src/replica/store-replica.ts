import { lastReadOf } from "@tenure/core";
import type { Tail, TailListener } from "@tenure/log";
import type { ReplicaOptions } from "./options.ts";
import type { PartitionListener } from "./partition-listener.ts";
import { PartitionReplica } from "./partition-replica.ts";
import type { ReplicaPorts } from "./ports.ts";
import { Turns } from "./turns.ts";

/** Told of what happens to any partition, and of how far the log has been read. */
export interface StoreListener extends PartitionListener {
  /**
   * The tail brought this message, after the partition has taken it. Messages come in the order of the log. Not settled
   * is one that the partition will apply later: an append of its own whose answer is still on its way.
   */
  onTailed(partition: number, sequence: bigint, isSettled: boolean): void;
  /** How much later the tail may bring what this replica appended itself; absent or 0 brings it at once. */
  restMs?(): number;
}

/**
 * Every partition of the log in one replica, fed by a single tail. Because the tail follows the log's one order over all
 * partitions, the last message that it brought says how far *each* partition has been read: what a client's highest
 * seen revision is compared with.
 */
export class StoreReplica implements AsyncDisposable, TailListener {
  readonly partitions: readonly PartitionReplica[];
  readonly #ports: ReplicaPorts;
  readonly #listener: StoreListener;
  #tail: Tail | undefined;
  #revision = 0n;

  constructor(ports: ReplicaPorts, options: ReplicaOptions, listener: StoreListener) {
    this.#ports = ports;
    this.#listener = listener;
    const resume = (partition: number, sequence: bigint) => this.#tail?.resume(partition, sequence);
    const snapshotTurns = new Turns();
    this.partitions = Array.from(
      { length: options.partitions },
      (_, partition) => new PartitionReplica(partition, ports, options, listener, resume, snapshotTurns),
    );
  }

  /** Loads every partition and begins to follow the log. */
  async start(): Promise<void> {
    const loaded = await Promise.all(
      this.partitions.map(async (partition) => [partition.partition, await partition.load()] as const),
    );
    this.#tail = this.#ports.transport.tail(new Map(loaded), this);
  }

  /** The log position up to which every partition that is not being loaded has been read. */
  get revision(): bigint {
    return this.#revision;
  }

  /** Since when the log reaches this replica without interruption. */
  get liveSinceMs(): number | undefined {
    return this.#tail?.liveSinceMs;
  }

  /** The partition of a number. */
  at(partition: number): PartitionReplica {
    const found = this.partitions[partition];
    if (found === undefined) throw new Error(`there is no partition ${partition} of ${this.partitions.length}`);
    return found;
  }

  /** Has the tail bring at once what the log has by now; undefined when it does not rest. */
  hurry(): Promise<void> | undefined {
    return this.#tail?.hurry();
  }

  /** Who follows another's partition may have to take it over at any time, and does not rest. */
  restMs(): number {
    for (const { ownEpoch } of this.partitions) if (ownEpoch === undefined) return 0;
    return this.#listener.restMs?.() ?? 0;
  }

  onMessage(partition: number, sequence: bigint, payload: Uint8Array): void {
    const replica = this.at(partition);
    replica.onMessage(sequence, payload);
    if (sequence > this.#revision) this.#revision = sequence;
    const isAwaited = replica.ownEpoch !== undefined && replica.role !== "halted";
    const isSettled = replica.state.lastSequence >= sequence || !isAwaited;
    this.#listener.onTailed(partition, sequence, isSettled);
  }

  onCaughtUp(partition: number): void {
    this.at(partition).onCaughtUp();
  }

  onReset(partition: number, why: string): void {
    this.at(partition).reload(why);
  }

  onWentBack(partition: number, lastSequence: bigint, toldSequence: bigint): void {
    this.at(partition).halt(`its log has gone back to ${lastSequence}, but ${toldSequence} was read`);
  }

  /** An owner has applied what it appended before the tail brings it; and what was read before a reload was there. */
  knownUpTo(partition: number): bigint {
    return lastReadOf(this.at(partition).state).sequence;
  }

  /** The connection to the log dropped: nobody is expired before holders had time to renew. */
  noteConnectionLost(): void {
    for (const partition of this.partitions) partition.noteConnectionLost();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.partitions.map((partition) => partition[Symbol.asyncDispose]()));
    await this.#tail?.[Symbol.asyncDispose]();
  }
}
