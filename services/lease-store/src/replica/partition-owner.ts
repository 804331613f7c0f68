import {
  commitBatch,
  endsOutage,
  guardOf,
  type LeaseKey,
  noteAppendAcked,
  noteConnectionLost,
  type OpenBatch,
  type OwnedPartition,
  openBatch,
  owesPause,
  ownPartition,
  type PartitionState,
  type SnapshotReference,
} from "@tenure/core";
import { type Fault, type Random, type Timer, toFault } from "@tenure/kernel";
import type { CommitOutcome } from "@tenure/log";
import { type Call, CommandCall } from "./call.ts";
import { DueLeases } from "./due-leases.ts";
import { limitReached, outcomeUnknown, ownerChanged } from "./faults.ts";
import { Housekeeping } from "./housekeeping.ts";
import type { ReplicaOptions } from "./options.ts";
import type { PartitionWriter, ReplicaPorts } from "./ports.ts";
import { isReplaced, isSurelyReplaced } from "./predecessor.ts";
import { fillBatch, settleWithin } from "./turn.ts";
import { WaitingCalls } from "./waiting-calls.ts";

/** How an ownership ended. */
export type OwnerEnding =
  | { readonly kind: "handedOver" }
  /** Another owner's batch stands in the log. If not clean, the state has changes that were never committed. */
  | { readonly kind: "replaced"; readonly isClean: boolean }
  /** The log has lost what this replica had read of it, and has put something else in its place. */
  | { readonly kind: "astray"; readonly why: string }
  /** The replica stops; what was under way has an unknown outcome. */
  | { readonly kind: "stopped" };

/** One committed batch, told right after its answers were made. */
export interface CommittedBatch {
  readonly batch: OpenBatch;
  readonly sequence: bigint;
  readonly sizeBytes: number;
  /** From the first try of the append to its acknowledgement. */
  readonly tookMs: number;
  /** For each term that the owner ended by time: from when it was due, by the owner's clock, to the commit. */
  readonly expiryLagsMs: readonly number[];
}

/** What an owner tells the replica that it is part of. */
export interface OwnerListener {
  onCommitted(committed: CommittedBatch): void;
}

/** How often waits that have ended, recoveries and forgotten names are looked at. */
const sweepIntervalMs = 250;

type Committed = Extract<CommitOutcome, { kind: "committed" }>;

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
  readonly #writer: PartitionWriter;
  readonly #owned: OwnedPartition;
  readonly #due: DueLeases;
  readonly #waiting = new WaitingCalls();
  readonly #housekeeping: Housekeeping;
  #queue: Call[] = [];
  #between: ((isCommitted: boolean) => void)[] = [];
  #successor: string | undefined;
  #isAwake = true;
  #wake: (() => void) | undefined;
  #isOpen = false;
  #inFlight: { readonly batchId: string; readonly startedAtMs: number } | undefined;
  #isReplaced = false;
  #ended: Fault | undefined;
  #sweep: Timer | undefined;

  constructor(state: PartitionState, ports: ReplicaPorts, options: ReplicaOptions, listener: OwnerListener) {
    this.#ports = ports;
    this.#options = options;
    this.#listener = listener;
    this.#writer = ports.writerOf(state.partition);
    this.epoch = state.epoch + 1n;
    const guard = guardOf(state, options.instance);
    this.#owned = ownPartition(state, ports.clock.now(), ports.clock.wall(), guard);
    this.#due = new DueLeases(state, ports.clock, () => this.#stir());
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

  /** Takes a call. An abort of `signal` takes it out again unless a batch has it already. */
  submit<Answer>(call: Call<Answer>, signal?: AbortSignal): Promise<Answer> {
    const { queuedCallsPerPartition: most } = this.#options;
    if (this.#ended !== undefined) call.fail(this.#ended);
    else if (this.#successor !== undefined) call.fail(ownerChanged(this.state.partition));
    else if (this.#queue.length >= most) {
      const what = `partition ${this.state.partition} has too many calls waiting for the log`;
      call.fail(limitReached("queued-calls-per-partition", most, what));
    } else {
      this.#queue.push(call as Call);
      if (signal !== undefined) this.#follow(call as Call, signal);
      this.#stir();
    }
    return call.promise;
  }

  /** Notes the beat of a wait; false if it is not known here. */
  beat(waiterId: string, beatNumber: bigint): boolean {
    const isKnown = this.#housekeeping.beat(waiterId, beatNumber, this.#ports.clock.now());
    if (this.#owned.stirred.size > 0) this.#stir();
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
    this.#stir();
  }

  /** Announces a snapshot with the next batch. */
  announce(snapshot: SnapshotReference): void {
    this.#housekeeping.announce(snapshot);
    this.#stir();
  }

  /** A batch of another owner was seen: nothing of this owner can be committed any more. */
  replace(): void {
    this.#isReplaced = true;
    this.#stir();
  }

  noteConnectionLost(): void {
    this.#owned.guard = noteConnectionLost(this.#owned.guard);
  }

  /** Takes the partition over and serves it until it is handed over, lost, or `signal` is aborted. */
  async run(isHandedOver: boolean, signal: AbortSignal): Promise<OwnerEnding> {
    const onAbort = () => this.#stir();
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
    const { batch, guard, state } = this.#owned;
    // Looked at before as well, so that one who has read what was lost does not break the log for all others.
    const isAstray =
      owesPause(guard, this.#ports.clock.now()) && (await isReplaced(this.#ports, state.partition, batch));
    if (isAstray === true) return astray(batch.prev);
    const first = await this.#append(this.#firstTurn(isHandedOver), signal);
    if (first?.kind === "replaced") {
      // The first batch changes nothing but these, so a race for an ownership costs its loser no reload.
      Object.assign(this.state, before);
      return { kind: "replaced", isClean: true };
    }
    if (first !== undefined) return first;
    for (;;) {
      await this.#untilAwake();
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
    this.#isAwake = false;
    const batch = openBatch(this.#owned, now, clock.wall());
    const isLast = this.#successor !== undefined;
    const filled = fillBatch(this.#owned, this.#queue, this.#waiting, this.#options.commandsPerBatch, now);
    this.#queue = filled.rest;
    const expiry = this.#expire(now, this.#options.commandsPerBatch);
    const overdue = this.#housekeeping.endWaits(now);
    if (!isLast) this.#housekeeping.tidy(now);
    const settled = [...overdue, ...settleWithin(this.#owned, now)];
    if (isLast) this.#housekeeping.end(this.#successor ?? "");
    const calls = [...filled.answered, ...this.#waiting.settle(settled)];
    const hasMore = this.#queue.length > 0 || this.#owned.stirred.size > 0 || this.#due.waiting > 0;
    if (hasMore) this.#isAwake = true;
    // A lease that stays stirred asked for the next batch, so this one is appended even if it is empty.
    const needsAppend = filled.needsAppend || expiry.needsAppend || this.#owned.stirred.size > 0;
    const mustAppend = batch.events.length > 0 || calls.length > 0 || needsAppend || isLast;
    return { batch, calls, mustAppend, isLast };
  }

  /** Judges due leases anew; those that need an acknowledged append first are kept for the next batch (rule 17). */
  #expire(now: number, count: number): { readonly needsAppend: boolean } {
    const later: LeaseKey[] = [];
    for (const lease of this.#due.take(count)) {
      const retry = this.#housekeeping.expire(lease, now);
      if (retry === "nextBatch") later.push(lease);
      else if (retry !== undefined) this.#due.again(lease, retry);
    }
    this.#due.putBack(later);
    return { needsAppend: later.length > 0 };
  }

  async #append(turn: Turn, signal: AbortSignal): Promise<OwnerEnding | undefined> {
    const { clock, codec, random } = this.#ports;
    const { incarnationId, instance } = this.#options;
    const { epoch, partition, snapshot } = this.state;
    const { events, position, prev, prevBatchId } = turn.batch;
    const batchId = freshBatchId(random);
    const ids = { batchId, prev, prevBatchId, writer: instance, incarnationId };
    const payload = codec.encodeBatch({ partition, epoch, ...ids, wallMs: position.wallMs, snapshot, events });
    const startedAtMs = clock.now();
    this.#isOpen = events.length > 0;
    this.#inFlight = { batchId, startedAtMs };
    let result: CommitOutcome;
    try {
      result = await this.#writer.commit(payload, prev, signal);
      if (result.kind === "committed" && (await this.#isAstray(turn.batch, result, signal))) {
        for (const call of turn.calls) call.fail(outcomeUnknown(partition));
        return astray(prev);
      }
    } catch (thrown) {
      for (const call of turn.calls) call.fail(outcomeUnknown(partition));
      if (signal.aborted) return { kind: "stopped" };
      throw thrown;
    } finally {
      this.#inFlight = undefined;
    }
    if (result.kind !== "committed") {
      const fault = result.applied === "NO" ? ownerChanged(partition) : outcomeUnknown(partition);
      for (const call of turn.calls) call.fail(fault);
      return result.kind === "astray" ? astray(prev) : { kind: "replaced", isClean: events.length === 0 };
    }
    this.#commit(turn, batchId, result, { sizeBytes: payload.length, tookMs: clock.now() - startedAtMs });
    return turn.isLast ? { kind: "handedOver" } : undefined;
  }

  /**
   * Whether the batch that was just appended does not follow the one that its owner had read. Asked of the first append
   * after an outage, which a takeover ends too: a log loses its end only when servers fail.
   */
  async #isAstray(batch: OpenBatch, { sentAtMs }: Committed, signal: AbortSignal): Promise<boolean> {
    const { guard, state } = this.#owned;
    if (!endsOutage(guard, sentAtMs, this.#ports.clock.now())) return false;
    return isSurelyReplaced(this.#ports, state.partition, batch, signal);
  }

  #commit(
    turn: Turn,
    batchId: string,
    { sentAtMs, sequence }: Committed,
    cost: Pick<CommittedBatch, "sizeBytes" | "tookMs">,
  ): void {
    const { state } = this;
    commitBatch(this.#owned, sequence, batchId);
    this.#isOpen = false;
    const now = this.#ports.clock.now();
    this.#owned.guard = noteAppendAcked(this.#owned.guard, sentAtMs, now, state.settings.timing);
    for (const call of turn.calls) call.complete(this.#owned);
    this.#due.watchEvents(turn.batch.events);
    this.#housekeeping.noteEvents(turn.batch.events, now);
    const expiryLagsMs = this.#housekeeping.takeExpiryLags(now);
    this.#listener.onCommitted({ batch: turn.batch, sequence, ...cost, expiryLagsMs });
    this.#runBetween(true);
  }

  #runBetween(isCommitted: boolean): void {
    const between = this.#between;
    this.#between = [];
    for (const action of between) action(isCommitted);
  }

  #follow(call: Call, signal: AbortSignal): void {
    const onAbort = () => {
      call.fail(toFault(signal.reason));
      if (call instanceof CommandCall) this.#waiting.abandon(this.#owned, call);
      this.#stir();
    };
    if (signal.aborted) onAbort();
    else {
      signal.addEventListener("abort", onAbort, { once: true });
      const leave = () => signal.removeEventListener("abort", onAbort);
      call.promise.then(leave, leave);
    }
  }

  #scheduleSweep(): void {
    this.#sweep = this.#ports.clock.schedule(sweepIntervalMs, () => {
      const now = this.#ports.clock.now();
      this.#waiting.beat(this.#owned, now);
      if (this.#housekeeping.sweep(now)) this.#stir();
      this.#scheduleSweep();
    });
  }

  #stir(): void {
    this.#isAwake = true;
    this.#wake?.();
  }

  async #untilAwake(): Promise<void> {
    // A turn of the event loop lets calls that have arrived together share a batch.
    await Promise.resolve();
    if (this.#isAwake) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  #end(fault: Fault): void {
    this.#ended = fault;
    for (const call of this.#queue) call.fail(fault);
    this.#queue = [];
    this.#waiting.failAll(fault);
    this.#runBetween(false);
  }
}

function astray(prev: bigint): OwnerEnding {
  return { kind: "astray", why: `the log went back: batch ${prev} is not the one that was read there` };
}

/** What the first batch of an epoch changes. */
function ownershipOf({ epoch, epochStart, owesPause, owner, settings, successor }: PartitionState) {
  return { epoch, epochStart, owesPause, owner, settings, successor };
}

/** 32 hexadecimal digits. */
function freshBatchId(random: Random): string {
  let text = "";
  for (let part = 0; part < 4; part += 1) {
    text += Math.floor(random.next() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  }
  return text;
}
