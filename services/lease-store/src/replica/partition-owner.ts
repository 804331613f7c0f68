import {
  commitBatch,
  guardOf,
  noteAppendAcked,
  noteConnectionLost,
  type OpenBatch,
  type OwnedPartition,
  openBatch,
  ownPartition,
  type PartitionState,
  type SnapshotReference,
} from "@tenure/core";
import { type Fault, onAbort, type Timer, toFault } from "@tenure/kernel";
import { type Appending, type AppendResult, appendBatch, freshBatchId } from "./batch-append.ts";
import { BatchSize } from "./batch-size.ts";
import { type Call, type Caller, CommandCall } from "./call.ts";
import { DueLeases } from "./due-leases.ts";
import { limitReached, outcomeUnknown, ownerChanged } from "./faults.ts";
import { Housekeeping } from "./housekeeping.ts";
import { crowdedBatchBytes, type ReplicaOptions } from "./options.ts";
import type { OwnerEnding } from "./owner-ending.ts";
import type { OwnerListener } from "./owner-listener.ts";
import type { ReplicaPorts } from "./ports.ts";
import { fillBatch, settleWithin } from "./turn.ts";
import { WaitingCalls } from "./waiting-calls.ts";
import { Wakening } from "./wakening.ts";

/** How often waits that have ended, recoveries and forgotten names are looked at. */
const sweepIntervalMs = 250;

type Appended = Extract<AppendResult, { kind: "committed" }>;

interface Turn {
  readonly batch: OpenBatch;
  readonly calls: readonly Call[];
  readonly mustAppend: boolean;
  readonly isLast: boolean;
}

/**
 * Decides on one partition for one epoch, batch at a time: while one append is in flight calls queue; on its
 * acknowledgement they are answered and the next batch is appended. Nothing is answered before its append is
 * acknowledged, not even a refusal, because a replaced owner would refuse by a state that is no longer true. The first
 * batch carries the epoch's record and grants nothing.
 */
export class PartitionOwner {
  readonly epoch: bigint;
  readonly #ports: ReplicaPorts;
  readonly #options: ReplicaOptions;
  readonly #listener: OwnerListener;
  readonly #appending: Appending;
  readonly #owned: OwnedPartition;
  readonly #due: DueLeases;
  readonly #waiting = new WaitingCalls((call) => this.#heed(call));
  readonly #wakening = new Wakening();
  readonly #housekeeping: Housekeeping;
  #queue: Call[] = [];
  #between: ((isCommitted: boolean) => void)[] = [];
  #successor: string | undefined;
  #isOpen = false;
  #inFlight: { readonly batchId: string; readonly startedAtMs: number; readonly calls: readonly Call[] } | undefined;
  #isReplaced = false;
  #ended: Fault | undefined;
  #sweep: Timer | undefined;

  constructor(state: PartitionState, ports: ReplicaPorts, options: ReplicaOptions, listener: OwnerListener) {
    this.#ports = ports;
    this.#options = options;
    this.#listener = listener;
    this.epoch = state.epoch + 1n;
    const guard = guardOf(state, options.instance);
    this.#owned = ownPartition(state, ports.clock.now(), ports.clock.wall(), guard);
    this.#appending = { owned: this.#owned, ports, options, writer: ports.writerOf(state.partition) };
    this.#due = new DueLeases(state, ports.clock, () => this.#wakening.stir());
    this.#housekeeping = new Housekeeping(this.#owned, ports, options);
  }

  get state(): PartitionState {
    return this.#owned.state;
  }

  /** Whether the state shows changes that are not committed yet. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The id of the batch whose append is in flight. */
  get inFlight(): string | undefined {
    return this.#inFlight?.batchId;
  }

  /** Ms since the append in flight was first tried; 0 when there is none. */
  get appendingForMs(): number {
    return this.#inFlight === undefined ? 0 : this.#ports.clock.now() - this.#inFlight.startedAtMs;
  }

  get queued(): number {
    return this.#queue.length;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Takes a call. The caller's abort takes it out again unless a batch has it already; a caller that is no signal
   * is heeded once its call waits in a queue, or within {@link sweepIntervalMs}.
   */
  submit<Answer>(call: Call<Answer>, caller?: Caller | AbortSignal): Call<Answer> {
    const { queuedCallsPerPartition: most } = this.#options;
    if (this.#ended !== undefined) call.fail(this.#ended);
    else if (this.#successor !== undefined) call.fail(ownerChanged(this.state.partition));
    else if (this.#queue.length >= most) {
      const what = `partition ${this.state.partition} has too many calls waiting for the log`;
      call.fail(limitReached("queued-calls-per-partition", most, what));
    } else {
      this.#queue.push(call as Call);
      if (caller instanceof AbortSignal) this.#follow(call as Call, caller);
      else call.caller = caller;
      this.#wakening.stir();
    }
    return call;
  }

  /** Notes the beat of a wait; false if it is not known here. */
  beat(waiterId: string, beatNumber: bigint): boolean {
    const isKnown = this.#housekeeping.beat(waiterId, beatNumber, this.#ports.clock.now());
    if (this.#owned.stirred.size > 0) this.#wakening.stir();
    return isKnown;
  }

  /**
   * Runs `action` as soon as the state shows only what is committed: now, or right after the append in flight. If the
   * ownership ends first, or has ended, it is told that the state may show more. `afterAppend` waits for the append in
   * flight also when that carries nothing, because its fate says whether the state is behind the log.
   */
  whenCommitted(action: (isCommitted: boolean) => void, afterAppend = false): void {
    if (this.#ended !== undefined) action(false);
    else if (this.#isOpen || afterAppend) this.#between.push(action);
    else action(true);
  }

  /** Gives the partition away with the next batch, whose last record says so. */
  handOver(successor: string): void {
    this.#successor = successor;
    this.#wakening.stir();
  }

  /** Announces a snapshot with the next batch. */
  announce(snapshot: SnapshotReference): void {
    this.#housekeeping.announce(snapshot);
    this.#wakening.stir();
  }

  /** A batch of another owner was seen: nothing of this owner can be committed any more. */
  replace(): void {
    this.#isReplaced = true;
    this.#wakening.stir();
  }

  noteConnectionLost(): void {
    this.#owned.guard = noteConnectionLost(this.#owned.guard, this.#ports.clock.now());
  }

  /** Takes the partition over and serves it until it is handed over, lost, or `signal` is aborted. */
  async run(isHandedOver: boolean, signal: AbortSignal): Promise<OwnerEnding> {
    const onAbort = () => this.#wakening.stir();
    signal.addEventListener("abort", onAbort);
    try {
      return await this.#serve(isHandedOver, signal);
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#sweep?.cancel();
      this.#due[Symbol.dispose]();
      this.#end(ownerChanged(this.state.partition));
    }
  }

  async #serve(isHandedOver: boolean, signal: AbortSignal): Promise<OwnerEnding> {
    const before = ownershipOf(this.state);
    const first = await this.#append(this.#firstTurn(isHandedOver), signal);
    if (first?.kind === "replaced") {
      // The first batch changes nothing but these, so a race for an ownership costs its loser no reload.
      Object.assign(this.state, before);
      return { kind: "replaced", isClean: true };
    }
    if (first !== undefined) return first;
    for (;;) {
      await this.#wakening.untilAwake();
      await this.#ports.turn?.();
      if (signal.aborted) return { kind: "stopped" };
      if (this.#isReplaced) return { kind: "replaced", isClean: true };
      const turn = this.#nextTurn();
      const ending = turn.mustAppend ? await this.#append(turn, signal) : undefined;
      if (ending !== undefined) return ending;
    }
  }

  #firstTurn(isHandedOver: boolean): Turn {
    const { clock } = this.#ports;
    const batch = openBatch(this.#owned, clock.now(), clock.wall());
    this.#housekeeping.begin(this.epoch, isHandedOver);
    this.#due.watchAll();
    this.#scheduleSweep();
    return { batch, calls: [], mustAppend: true, isLast: false };
  }

  #nextTurn(): Turn {
    const { clock } = this.#ports;
    const now = clock.now();
    this.#wakening.rest();
    const batch = openBatch(this.#owned, now, clock.wall());
    const isLast = this.#successor !== undefined;
    const { commandsPerBatch } = this.#options;
    const size = new BatchSize(batch.events);
    const hasRoom = () => size.bytes < crowdedBatchBytes;
    const filled = fillBatch(this.#owned, this.#queue, this.#waiting, commandsPerBatch, size, now);
    this.#queue = filled.rest;
    const needsProof = this.#due.judge(commandsPerBatch, hasRoom, (lease) => this.#housekeeping.expire(lease, now));
    const overdue = this.#housekeeping.endWaits(now);
    if (!isLast) this.#housekeeping.tidy(now);
    const settled = [...overdue, ...(hasRoom() ? settleWithin(this.#owned, now) : [])];
    if (isLast) this.#housekeeping.end(this.#successor ?? "");
    const calls = [...filled.answered, ...this.#waiting.settle(settled)];
    const hasMore = this.#queue.length > 0 || this.#owned.stirred.size > 0 || this.#due.waiting > 0;
    if (hasMore) this.#wakening.stir();
    // A lease that stays stirred asked for the next batch, so this one is appended even if it is empty.
    const needsAppend = filled.needsAppend || needsProof || this.#owned.stirred.size > 0;
    const mustAppend = batch.events.length > 0 || calls.length > 0 || needsAppend || isLast;
    return { batch, calls, mustAppend, isLast };
  }

  async #append(turn: Turn, signal: AbortSignal): Promise<OwnerEnding | undefined> {
    const { clock, random } = this.#ports;
    const startedAtMs = clock.now();
    const batchId = freshBatchId(random);
    this.#isOpen = turn.batch.events.length > 0;
    this.#inFlight = { batchId, startedAtMs, calls: turn.calls };
    let result: AppendResult;
    try {
      result = await appendBatch(this.#appending, batchId, turn.batch, signal);
    } catch (thrown) {
      for (const call of turn.calls) call.fail(outcomeUnknown(this.state.partition));
      throw thrown;
    } finally {
      this.#inFlight = undefined;
    }
    if (result.kind === "ended") {
      for (const call of turn.calls) call.fail(result.fault);
      return result.ending;
    }
    await this.#commit(turn, batchId, result, clock.now() - startedAtMs);
    return turn.isLast ? { kind: "handedOver" } : undefined;
  }

  async #commit(
    turn: Turn,
    batchId: string,
    { sentAtMs, sequence, sizeBytes }: Appended,
    tookMs: number,
  ): Promise<void> {
    const { state } = this;
    commitBatch(this.#owned, sequence, batchId);
    const now = this.#ports.clock.now();
    this.#owned.guard = noteAppendAcked(this.#owned.guard, sentAtMs, now, state.settings.timing);
    for (const call of turn.calls) call.complete(this.#owned);
    // Those who wait are answered before those who follow are told. Nobody reads the state in between: it is still open.
    await this.#ports.sent?.();
    this.#isOpen = false;
    this.#due.watchEvents(turn.batch.events);
    this.#housekeeping.noteEvents(turn.batch.events, now);
    const expiryLagsMs = this.#housekeeping.takeExpiryLags(now);
    this.#listener.onCommitted({ batch: turn.batch, sequence, sizeBytes, tookMs, expiryLagsMs });
    this.#runBetween(true);
  }

  #runBetween(isCommitted: boolean): void {
    const between = this.#between;
    this.#between = [];
    for (const action of between) action(isCommitted);
  }

  #heed(call: Call): void {
    const { caller } = call;
    call.caller = undefined;
    if (caller === undefined || call.isSettled) return;
    call.leave = () => caller.onAbort(undefined);
    caller.onAbort((why) => this.#giveUp(call, why));
  }

  #follow(call: Call, signal: AbortSignal): void {
    const giveUp = () => this.#giveUp(call, toFault(signal.reason));
    if (signal.aborted) giveUp();
    else call.leave = onAbort(signal, giveUp);
  }

  #giveUp(call: Call, why: Fault): void {
    call.fail(why);
    if (call instanceof CommandCall) this.#waiting.abandon(this.#owned, call);
    this.#wakening.stir();
  }

  #scheduleSweep(): void {
    this.#sweep = this.#ports.clock.schedule(sweepIntervalMs, () => {
      const now = this.#ports.clock.now();
      for (const call of this.#queue) this.#heed(call);
      for (const call of this.#inFlight?.calls ?? []) this.#heed(call);
      this.#waiting.beat(this.#owned, now);
      if (this.#housekeeping.sweep(now)) this.#wakening.stir();
      this.#scheduleSweep();
    });
  }

  #end(fault: Fault): void {
    this.#ended = fault;
    for (const call of this.#queue) call.fail(fault);
    this.#queue = [];
    this.#waiting.failAll(fault);
    this.#runBetween(false);
  }
}

/** What the first batch of an epoch changes. */
function ownershipOf({ epoch, epochStart, owesPause, owner, settings, successor }: PartitionState) {
  return { epoch, epochStart, owesPause, owner, settings, successor };
}
