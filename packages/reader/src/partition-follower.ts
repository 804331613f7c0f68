import type { LeftOut } from "@tenure/contracts";
import { emptyPartition, followBatch, type PartitionState } from "@tenure/core";
import type { AppliedBatch } from "./change-set.ts";
import { partitionHalted, replicaBehind } from "./faults.ts";
import type { ReadableBatch } from "./log-decoder.ts";
import { type LoaderPorts, PartitionLoader } from "./partition-loader.ts";

/** What a follower does at present. */
export type FollowerRole = "loading" | "following" | "halted";

/** What a follower reads. */
export interface FollowerOptions {
  readonly incarnationId: string;
  /** Events that nobody asks this follower for. */
  readonly leftOut?: LeftOut;
}

/** Told of what happens to a partition that is followed. Everything is told synchronously; a listener does not throw. */
export interface FollowerListener {
  onRole(partition: number, role: FollowerRole): void;
  onApplied(applied: AppliedBatch): void;
  /** The owner, the epoch or the hand-over changed. */
  onOwner(partition: number): void;
  /** Something failed that the follower lives with. */
  onFault(partition: number, doing: string, fault: unknown): void;
}

/** One partition as the log tells it, never owned: loaded from the newest snapshot, then batch by batch. */
export class PartitionFollower implements AsyncDisposable {
  readonly partition: number;
  readonly #ports: LoaderPorts;
  readonly #incarnationId: string;
  readonly #leftOut: LeftOut;
  readonly #listener: FollowerListener;
  readonly #resume: (partition: number, sequence: bigint) => void;
  readonly #loader: PartitionLoader;
  #state: PartitionState;
  #role: FollowerRole = "loading";
  #haltedWhy = "";

  constructor(
    partition: number,
    ports: LoaderPorts,
    { incarnationId, leftOut = {} }: FollowerOptions,
    listener: FollowerListener,
    resume: (partition: number, sequence: bigint) => void,
  ) {
    this.partition = partition;
    this.#ports = ports;
    this.#incarnationId = incarnationId;
    // Who never owns a partition never asks what an attempt did.
    this.#leftOut = { ...leftOut, attempts: true };
    this.#listener = listener;
    this.#resume = resume;
    this.#loader = new PartitionLoader(partition, ports, incarnationId, (...fault) => listener.onFault(...fault));
    this.#state = emptyPartition(partition, ports.clock.now());
  }

  get role(): FollowerRole {
    return this.#role;
  }

  /** Why it halted; empty unless it did. */
  get haltedWhy(): string {
    return this.#haltedWhy;
  }

  get state(): PartitionState {
    return this.#state;
  }

  /** Loads the newest snapshot, tries until it succeeds or the follower stops, and returns where the tail begins. */
  async load(): Promise<bigint> {
    await this.#loader.load((state) => {
      this.#state = state;
    });
    return this.#state.lastSequence;
  }

  /** The tail brought a message. */
  onMessage(sequence: bigint, payload: Uint8Array): void {
    if (this.#role === "halted" || !this.#loader.isLoaded) return;
    const batch = this.#decode(sequence, payload);
    if (batch === undefined) return;
    const { partition } = this;
    const { epoch, owner, successor } = this.#state;
    const followed = followBatch(this.#state, batch, this.#ports.clock.now());
    if (followed.kind === "gap") this.reload(`batch ${sequence} follows ${followed.prev}, which is not known`);
    else if (followed.kind === "broken") this.halt(followed.why);
    if (followed.kind !== "applied") return;
    const state = this.#state;
    this.#listener.onApplied({ partition, sequence, events: batch.events, state });
    const isSame = state.epoch === epoch && state.owner === owner && state.successor === successor;
    if (!isSame) this.#listener.onOwner(partition);
    this.#showIfCaughtUp();
  }

  /** The tail has told everything that was there when it began. */
  onCaughtUp(): void {
    this.#loader.noteCaughtUp();
    this.#showIfCaughtUp();
  }

  /** Loads the partition anew and has the tail follow it from there. */
  reload(why: string): void {
    if (this.#role === "halted") return;
    this.#listener.onFault(this.partition, "follow the log", new Error(why));
    this.#become("loading");
    this.#loader.reload(this.#state, {
      onLoaded: (state) => {
        if (this.#role === "halted") return;
        this.#state = state;
        this.#resume(this.partition, state.lastSequence);
      },
      onBroken: (brokenWhy) => this.halt(brokenWhy),
    });
  }

  /** The log does not say what it must: nothing of the partition is shown any more until an operator has acted. */
  halt(why: string): void {
    if (this.#role === "halted") return;
    this.#haltedWhy = why;
    this.#become("halted");
  }

  /** Reads the state; UNAVAILABLE while it is being loaded or has halted. */
  view<Answer>(read: (state: PartitionState) => Answer): Answer {
    if (this.#role === "loading") throw replicaBehind("the partition is being loaded", this.partition);
    if (this.#role === "halted") throw partitionHalted(this.partition, this.#haltedWhy);
    return read(this.#state);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loader[Symbol.asyncDispose]();
  }

  #decode(sequence: bigint, payload: Uint8Array): ReadableBatch | undefined {
    try {
      const batch = this.#ports.codec.decodeBatch(sequence, payload, this.#leftOut);
      if (batch.incarnationId === this.#incarnationId) return batch;
      this.halt(`batch ${sequence} is of incarnation ${batch.incarnationId}, not ${this.#incarnationId}`);
    } catch (thrown) {
      this.halt(`batch ${sequence} cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
    return undefined;
  }

  #showIfCaughtUp(): void {
    if (this.#role !== "loading" || !this.#loader.hasCaughtUp(this.#state)) return;
    this.#become("following");
    this.#listener.onOwner(this.partition);
  }

  #become(role: FollowerRole): void {
    if (this.#role === role) return;
    this.#role = role;
    this.#listener.onRole(this.partition, role);
  }
}
