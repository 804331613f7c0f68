import { emptyPartition, followBatch, type PartitionState } from "@tenure/core";
import { Fault, JoinedSignal } from "@tenure/kernel";
import { PartitionLoader } from "@tenure/reader";
import type { Call, Caller } from "./call.ts";
import { notServing, ownerChanged, partitionHalted } from "./faults.ts";
import { HeldMessages, type TailedMessage } from "./held-messages.ts";
import type { ReplicaOptions } from "./options.ts";
import { type OwnerEnding, replacedWhy } from "./owner-ending.ts";
import type { CommittedBatch } from "./owner-listener.ts";
import type { PartitionListener, Resume, Role } from "./partition-listener.ts";
import { PartitionOwner } from "./partition-owner.ts";
import type { ReplicaPorts, StoredBatch } from "./ports.ts";
import { isReplaced } from "./predecessor.ts";
import { SnapshotKeeper } from "./snapshot-keeper.ts";
import type { Turns } from "./turns.ts";

/**
 * One replica's copy of one partition: loads it, follows the log, and owns it while the log says so. There is one state:
 * the owner decides on it directly, and if changes on it were not committed it is thrown away and loaded again.
 */
export class PartitionReplica implements AsyncDisposable {
  readonly partition: number;
  readonly #ports: ReplicaPorts;
  readonly #options: ReplicaOptions;
  readonly #listener: PartitionListener;
  readonly #resume: Resume;
  readonly #loader: PartitionLoader;
  readonly #keeper: SnapshotKeeper;
  readonly #held = new HeldMessages();
  /** Ends what is under way when the replica stops or halts: an append that is still tried could yet be acknowledged. */
  readonly #ending = new AbortController();
  #state: PartitionState;
  #role: Role = "loading";
  #halted: string | undefined;
  #owner: PartitionOwner | undefined;
  #isComparing = false;
  /** Why the partition is loaded anew as soon as this ownership has ended. */
  #reloadWhy: string | undefined;
  #ownership: Promise<void> = Promise.resolve();

  constructor(
    partition: number,
    ports: ReplicaPorts,
    options: ReplicaOptions,
    listener: PartitionListener,
    resume: Resume,
    snapshotTurns: Turns,
  ) {
    this.partition = partition;
    this.#ports = ports;
    this.#options = options;
    this.#listener = listener;
    this.#resume = resume;
    this.#loader = new PartitionLoader(partition, ports, options.incarnationId, (...fault) =>
      listener.onFault(...fault),
    );
    this.#keeper = new SnapshotKeeper(ports, options, snapshotTurns);
    this.#state = emptyPartition(partition, ports.clock.now());
  }

  get role(): Role {
    return this.#role;
  }

  get state(): PartitionState {
    return this.#state;
  }

  /** Why it halted; undefined unless it did. */
  get haltedWhy(): string | undefined {
    return this.#halted;
  }

  get queued(): number {
    return this.#owner?.queued ?? 0;
  }

  /** Ms since the append in flight was first tried; a loop that hangs shows here. */
  get appendingForMs(): number {
    return this.#owner?.appendingForMs ?? 0;
  }

  get waiting(): number {
    return this.#owner?.waiting ?? 0;
  }

  /** The epoch that this replica serves or is about to; undefined when it does not. */
  get ownEpoch(): bigint | undefined {
    return this.#owner?.epoch;
  }

  /** Loads the newest snapshot, tries until it succeeds or the replica stops, and returns where the tail begins. */
  async load(): Promise<bigint> {
    await this.#loader.load((state) => {
      this.#state = state;
    });
    return this.#state.lastSequence;
  }

  /** Takes a message of the tail. */
  onMessage(sequence: bigint, payload: Uint8Array): void {
    if (this.#role === "halted" || !this.#loader.isLoaded) return;
    if (this.#owner === undefined) this.#follow({ sequence, payload });
    else if (sequence > this.#state.lastSequence) this.#hold(this.#owner, { sequence, payload });
  }

  /** The tail has told everything that was there when it began. */
  onCaughtUp(): void {
    this.#loader.noteCaughtUp();
    this.#serveIfCaughtUp();
  }

  /**
   * Loads the partition anew and has the tail follow it from there. An owner ends first, because it decides on the state
   * that is replaced.
   */
  reload(why: string): void {
    if (this.#ending.signal.aborted) return;
    if (this.#owner !== undefined) {
      this.#reloadWhy = why;
      this.#owner.replace();
      return;
    }
    this.#reloadWhy = undefined;
    this.#listener.onFault(this.partition, "follow the log", new Error(why));
    this.#become("loading");
    this.#loader.reload(this.#state, {
      onLoaded: (state) => {
        if (this.#role === "halted") return;
        this.#state = state;
        this.#listener.onReloaded(this.partition);
        this.#resume(this.partition, state.lastSequence);
      },
      onBroken: (brokenWhy) => this.halt(brokenWhy),
    });
  }

  /** The log does not say what it must: nothing is decided or shown any more until an operator has acted. */
  halt(why: string): void {
    this.#halted = why;
    this.#become("halted");
    this.#ending.abort(this.#haltedFault());
  }

  /**
   * Begins an epoch of this replica's own, if the log lets it. Calls are queued from here on. One who has read more than
   * the log shows does not: acknowledged changes are gone, or the log shows them in a moment.
   */
  takeOver(isHandedOver: boolean): void {
    if (this.#role !== "following" || this.#state.lastRead !== undefined) return;
    const owner = new PartitionOwner(this.#state, this.#ports, this.#options, {
      onCommitted: (committed) => this.#onCommitted(owner, committed),
    });
    this.#owner = owner;
    this.#become("takingOver");
    // A signal of its own: who waits on behalf of an ownership is forgotten with it.
    const ending = new JoinedSignal([this.#ending.signal]);
    this.#ownership = owner
      .run(isHandedOver, ending.signal)
      .finally(() => ending[Symbol.dispose]())
      .then(
        (how) => this.#onEnding(how),
        (thrown) => this.#onBroken(thrown),
      );
  }

  /** Gives the partition away with everything that is queued decided first; resolves when it is done. */
  async handOver(successor: string): Promise<void> {
    if (this.#owner === undefined || this.#role === "halted") return;
    if (this.#role === "owning") this.#become("handingOver");
    this.#owner.handOver(successor);
    await this.#ownership;
  }

  /** Has the owner answer a call; refused with OWNER_CHANGED when that is not this replica. */
  submit<Answer>(call: Call<Answer>, caller?: Caller | AbortSignal): Call<Answer> {
    if (this.#owner !== undefined && this.#role !== "halted") return this.#owner.submit(call, caller);
    call.fail(this.#halted === undefined ? ownerChanged(this.partition) : this.#haltedFault());
    return call;
  }

  beat(waiterId: string, beatNumber: bigint): boolean {
    return this.#owner?.beat(waiterId, beatNumber) ?? false;
  }

  noteConnectionLost(): void {
    this.#owner?.noteConnectionLost();
    if (!this.#isComparing && this.#loader.isLoaded) void this.#compare();
  }

  /**
   * Reads the state when it shows only what is committed, never what an append in flight may still lose, and all that
   * the tail has told: batches of another owner are held back until this ownership has ended.
   */
  view<Answer>(read: (state: PartitionState) => Answer): Promise<Answer> {
    const owner = this.#owner;
    if (owner === undefined) return this.#readNow(read);
    if (this.#isBehind && owner.inFlight === undefined) return this.#ownership.then(() => this.view(read));
    return new Promise((resolve) => {
      owner.whenCommitted((isCommitted) => {
        if (!isCommitted) resolve(this.#ownership.then(() => this.view(read)));
        else resolve(this.#isBehind ? this.view(read) : this.#readNow(read));
      }, this.#isBehind);
    });
  }

  /** Whether the tail has told batches that the state does not show yet. */
  get #isBehind(): boolean {
    return this.#held.hasAfter(this.#state.lastSequence);
  }

  async #readNow<Answer>(read: (state: PartitionState) => Answer): Promise<Answer> {
    if (this.#role === "loading") throw notServing(this.partition, "it is being loaded");
    if (this.#role === "halted") throw this.#haltedFault();
    return read(this.#state);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new Fault({ code: "UNAVAILABLE", reason: "SERVER_STOPPING", message: "the replica stops" }));
    await this.#ownership;
    await this.#loader[Symbol.asyncDispose]();
  }

  /**
   * Looks whether the log still has what was read last, since it may have lost its end while it was away. What follows a
   * lost batch shows that only to who has not read it: an append that was on its way chains for all others.
   */
  async #compare(): Promise<void> {
    const { lastBatchId: batchId, lastSequence: sequence, partition } = this.#state;
    this.#isComparing = true;
    // Rejected only when the replica stops or has halted.
    const looking = isReplaced(this.#ports, { partition, sequence, batchId }, this.#ending.signal);
    const isOther = await looking.catch(() => false);
    this.#isComparing = false;
    if (isOther) this.halt(replacedWhy(sequence));
  }

  #follow(message: TailedMessage): void {
    const batch = this.#decode(message);
    if (batch === undefined) return;
    const { epoch, owner, successor } = this.#state;
    const followed = followBatch(this.#state, batch, this.#ports.clock.now());
    if (followed.kind === "gap") this.reload(`batch ${batch.sequence} follows ${followed.prev}, which is not known`);
    else if (followed.kind === "broken") this.halt(followed.why);
    if (followed.kind !== "applied") return;
    const { partition } = this;
    this.#listener.onApplied({
      partition,
      sequence: batch.sequence,
      events: batch.events,
      state: this.#state,
      isOwn: false,
    });
    const state = this.#state;
    if (state.epoch !== epoch || state.owner !== owner || state.successor !== successor) {
      this.#listener.onOwner(partition);
    }
    this.#serveIfCaughtUp();
  }

  /** Until then it can neither take over nor be read. */
  #serveIfCaughtUp(): void {
    if (this.#role === "loading" && this.#loader.hasCaughtUp(this.#state)) this.#become("following");
  }

  #decode({ payload, sequence }: TailedMessage): StoredBatch | undefined {
    try {
      const batch = this.#ports.codec.decodeBatch(sequence, payload);
      if (batch.incarnationId === this.#options.incarnationId) return batch;
      this.halt(`batch ${sequence} is of incarnation ${batch.incarnationId}, not ${this.#options.incarnationId}`);
    } catch (thrown) {
      this.halt(`batch ${sequence} cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
    return undefined;
  }

  /** Keeps what the tail brings while owning: it is our own append before its answer, or another owner's batch. */
  #hold(owner: PartitionOwner, message: TailedMessage): void {
    this.#held.add(message);
    const isOurs = owner.inFlight !== undefined && owner.inFlight === this.#ports.codec.batchIdOf(message.payload);
    if (!isOurs) owner.replace();
  }

  #onCommitted(owner: PartitionOwner, committed: CommittedBatch): void {
    const { events } = committed.batch;
    const { partition } = this;
    const state = this.#state;
    this.#held.forgetUpTo(committed.sequence);
    if (this.#role === "takingOver") this.#become("owning");
    this.#listener.onApplied({ partition, sequence: committed.sequence, events, state, isOwn: true });
    this.#listener.onCommitted(partition, committed);
    if (events.some(({ kind }) => kind === "ownerChanged" || kind === "ownerHandedOver"))
      this.#listener.onOwner(partition);
    if (this.#keeper.note(committed.sizeBytes, state.snapshot)) void this.#makeSnapshot(owner);
  }

  async #makeSnapshot(owner: PartitionOwner): Promise<void> {
    const isOwner = () => this.#owner === owner && !this.#ending.signal.aborted;
    try {
      await this.#keeper.makeInTurn(owner, isOwner);
    } catch (thrown) {
      this.#listener.onFault(this.partition, "make a snapshot", thrown);
    }
  }

  #onEnding(ending: OwnerEnding): void {
    this.#owner = undefined;
    const held = this.#held.takeAll();
    if (this.#role === "halted") return;
    if (ending.kind === "stopped") this.#become("loading");
    else if (ending.kind === "astray") this.halt(ending.why);
    else if (this.#reloadWhy !== undefined) this.reload(this.#reloadWhy);
    else if (ending.kind === "replaced" && !ending.isClean) this.reload("another owner took the partition over");
    else {
      this.#become("following");
      // One of them may hand the partition to this replica: then the rest is held again.
      for (const { sequence, payload } of held) this.onMessage(sequence, payload);
    }
  }

  #onBroken(thrown: unknown): void {
    this.#owner = undefined;
    this.#held.takeAll();
    this.#listener.onFault(this.partition, "own the partition", thrown);
    this.reload("the ownership broke down");
  }

  #haltedFault(): Fault {
    return partitionHalted(this.partition, this.#halted ?? "");
  }

  #become(role: Role): void {
    if (this.#role === role) return;
    this.#role = role;
    this.#listener.onRole(this.partition, role);
  }
}
