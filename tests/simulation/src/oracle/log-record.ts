import { type Event, emptyPartition, followBatch, type PartitionState, type SnapshotReference } from "@tenure/core";
import type { StoredBatch } from "@tenure/lease-store/replica";
import type { MemoryMessage } from "@tenure/log/memory";
import { codec } from "../store/codec.ts";
import type { ChangeRecord } from "./change-record.ts";
import { demand } from "./violation.ts";

/** What one lease showed from one batch on. */
export interface LeaseSight {
  readonly sequence: bigint;
  readonly lastToken: bigint;
  readonly guarded: string | undefined;
}

const utf8 = new TextDecoder();

/**
 * One partition's log as it truly is: every batch ever applied, also after a purge, and the state that follows from it.
 * Nobody in the world can read it but the oracles.
 */
export class LogRecord {
  readonly partition: number;
  readonly state: PartitionState;
  readonly #batches = new Map<bigint, StoredBatch>();
  readonly #timelines = new Map<string, LeaseSight[]>();
  readonly #sequences: bigint[] = [];
  readonly #changes: ChangeRecord;
  /** The snapshots that the log has announced, oldest first. */
  readonly announced: SnapshotReference[] = [];
  #owner = "";
  #isHandedOver = false;

  constructor(partition: number, changes: ChangeRecord) {
    this.partition = partition;
    this.#changes = changes;
    this.state = emptyPartition(partition, 0);
  }

  /** Sequence of the last batch; 0 before the first. */
  get lastSequence(): bigint {
    return this.state.lastSequence;
  }

  batchAt(sequence: bigint): StoredBatch | undefined {
    return this.#batches.get(sequence);
  }

  /** The last batch at or before a position. */
  lastUpTo(sequence: bigint): bigint {
    return this.#sequences.findLast((known) => known <= sequence) ?? 0n;
  }

  /** What a lease showed right after the batch at or before `sequence`. */
  leaseAt(lease: string, sequence: bigint): LeaseSight | undefined {
    return this.#timelines.get(lease)?.findLast((sight) => sight.sequence <= sequence);
  }

  /** Takes a message that the log has just applied: the batches of a partition form one chain of epochs (I1, I2). */
  take(message: MemoryMessage): StoredBatch {
    const batch = codec.decodeBatch(message.sequence, message.payload);
    const { epoch, events, prev, sequence, writer } = batch;
    const at = `batch ${sequence} of partition ${this.partition}`;
    demand(message.prev === this.lastSequence, "I1", () => `${at} was applied after ${this.lastSequence}`);
    demand(prev === message.prev, "I2", () => `${at} says that it follows ${prev}, but it follows ${message.prev}`);
    const isOpening = events[0]?.kind === "ownerChanged";
    const isNext = isOpening ? epoch > this.state.epoch : epoch === this.state.epoch;
    demand(isNext, "I2", () => `${at} is of epoch ${epoch} after epoch ${this.state.epoch}`);
    if (isOpening) this.#open(at, batch);
    else {
      demand(writer === this.#owner, "I2", () => `${at} was written by ${writer}, but ${this.#owner} owns the epoch`);
      demand(!this.#isHandedOver, "I2", () => `${at} was written after the hand-over of its epoch`);
    }
    if (events.some(({ kind }) => kind === "ownerHandedOver")) this.#isHandedOver = true;
    this.#batches.set(sequence, batch);
    this.#sequences.push(sequence);
    const noteChanges = this.#changes.note(batch, this.state);
    const followed = followBatch(this.state, batch, 0);
    noteChanges();
    demand(followed.kind === "applied", "I2", () => `${at} cannot be followed: ${followed.kind}`);
    for (const event of events) this.#note(event, sequence);
    return batch;
  }

  #open(at: string, { events, writer }: StoredBatch): void {
    this.#owner = writer;
    this.#isHandedOver = false;
    const isGranting = events.some(({ kind }) => kind === "holdGranted" || kind === "holdPending");
    demand(!isGranting, "rule 9", () => `${at} begins an epoch and grants`);
  }

  #note(event: Event, sequence: bigint): void {
    if (event.kind === "snapshotAnnounced") this.announced.push(event.snapshot);
    if (!("lease" in event)) return;
    const record = this.state.leases.get(event.lease);
    const value = record?.guarded?.get("value")?.value;
    const sight = {
      sequence,
      lastToken: record?.lastToken ?? 0n,
      guarded: value === undefined ? undefined : utf8.decode(value),
    };
    const timeline = this.#timelines.get(event.lease);
    if (timeline === undefined) this.#timelines.set(event.lease, [sight]);
    else timeline.push(sight);
  }
}
