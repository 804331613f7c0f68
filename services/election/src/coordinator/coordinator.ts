import {
  defaultElectionTiming,
  type ElectionDecision,
  type ElectionTiming,
  type ElectionView,
  electionDecision,
  type LeaseKey,
  type LeaseRecord,
  type PartitionState,
  partitionOf,
  type RankingExpressions,
} from "@tenure/core";
import { type Clock, type Fault, TimerWheel, toFault } from "@tenure/kernel";
import type { AppliedBatch } from "@tenure/reader";

/** Carries out decisions. */
export interface DecisionPort {
  /** Sends the command of a decision; resolves with the log position of its effect, 0 if it had none. */
  carryOut(decision: ElectionDecision, record: LeaseRecord, now: number): Promise<bigint>;
}

/** What a coordinator stands on. */
export interface CoordinatorPorts {
  readonly clock: Clock;
  readonly expressions: RankingExpressions;
  readonly partitions: number;
  /** The present state of a partition, to be read at once. */
  stateOf(partition: number): PartitionState;
  /** Since when the log is followed batch by batch; undefined while it is not. */
  followedSinceMs(): number | undefined;
  /** Whether this replica coordinates a lease at this moment. */
  isMine(lease: LeaseKey): boolean;
  beatsOf(lease: LeaseKey): ReadonlyMap<string, number>;
  readonly decisions: DecisionPort;
  readonly listener: CoordinatorListener;
  /** Commands under way at once. */
  readonly commandsUnderWay: number;
}

/** Told of what a coordinator does. */
export interface CoordinatorListener {
  onLook(): void;
  onDone(lease: LeaseKey, decision: ElectionDecision, tookMs: number): void;
  onRefused(lease: LeaseKey, decision: ElectionDecision, fault: Fault): void;
}

/** Facts that change nothing about who should lead, or that leave the next move to a candidate. */
const indifferent: ReadonlySet<string> = new Set([
  "renewed",
  "holdChanged",
  "guardChanged",
  "decisionRecorded",
  "holdPending",
]);

/** For each command that may be under way, how many choices may wait for their accept. */
const choicesPerCommand = 2;

/** When to look again after a command that found no owner. */
const ownerAwayMs = 200;

/** How long after the last word about an election it may go on: what comes in this time is wanted at once. */
const atWorkMs = 250;

/**
 * Drives elections: whenever the log, a live stream or the clock says something about a lease, it asks core what to do
 * and carries that out. It keeps nothing but timers: each decision is made from the record anew, and each command names
 * the revision that it was decided on, so another coordinator can go on at any point, and two cannot harm each other.
 */
export class Coordinator implements Disposable {
  readonly #ports: CoordinatorPorts;
  readonly #timing: ElectionTiming;
  readonly #wheel: TimerWheel<LeaseKey>;
  /** To be looked at when what happens now is over. */
  readonly #noted = new Set<LeaseKey>();
  /** Commands under way, and whether something happened meanwhile. */
  readonly #busy = new Map<LeaseKey, { isNoted: boolean }>();
  /** Chosen for and not accepted yet, as far as it is known. */
  readonly #chosen = new Set<LeaseKey>();
  /** Leases that wait for others' commands. */
  readonly #waiting = new Set<LeaseKey>();
  /** What a command wrote is not decided upon again before the log has brought it. */
  readonly #settling = new Map<LeaseKey, bigint>();
  /** When an election was last looked at. */
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(ports: CoordinatorPorts, timing: ElectionTiming = defaultElectionTiming) {
    this.#ports = ports;
    this.#timing = timing;
    this.#wheel = new TimerWheel(ports.clock, (lease) => this.#look(lease));
  }

  /** How many leases are looked after. */
  get size(): number {
    return this.#wheel.size;
  }

  /** Whether elections may be under way. */
  get isAtWork(): boolean {
    return this.#busy.size > 0 || this.#ports.clock.now() - this.#lookedAtMs < atWorkMs;
  }

  /** A batch of the log was applied. */
  onApplied({ events, state }: AppliedBatch): void {
    for (const event of events) {
      if (!("lease" in event) || indifferent.has(event.kind)) continue;
      // Most terms are of leases that nobody stands for.
      const isOfTerm = event.kind === "holdGranted" || event.kind === "holdEnded";
      const record = isOfTerm ? state.leases.get(event.lease) : undefined;
      if (record === undefined || isConcerned(record)) this.note(event.lease);
    }
  }

  /** Something about a lease may have changed. */
  note(lease: LeaseKey): void {
    if (this.#isStopped || !this.#ports.isMine(lease)) return;
    if (this.#noted.size === 0) queueMicrotask(() => this.#lookAtNoted());
    this.#noted.add(lease);
  }

  /** Looks at every lease that `isOf` says yes to: those of a shard that was just taken, or all after a gap. */
  scan(isOf: (lease: LeaseKey) => boolean): void {
    for (let partition = 0; partition < this.#ports.partitions; partition += 1) {
      for (const [lease, record] of this.#ports.stateOf(partition).leases) {
        if (isConcerned(record) && isOf(lease)) this.note(lease);
      }
    }
  }

  /** What a coordinator knows of a lease now; undefined while nothing is kept under the name or the log is not followed. */
  viewOf(lease: LeaseKey): ElectionView | undefined {
    const { beatsOf, expressions, partitions } = this.#ports;
    const record = this.#ports.stateOf(partitionOf(lease, partitions)).leases.get(lease);
    const followedSinceMs = this.#ports.followedSinceMs();
    if (record === undefined || followedSinceMs === undefined) return undefined;
    return { record, beats: beatsOf(lease), followedSinceMs, expressions, timing: this.#timing };
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    this.#noted.clear();
    this.#waiting.clear();
    this.#wheel[Symbol.dispose]();
  }

  #lookAtNoted(): void {
    const leases = [...this.#noted];
    this.#noted.clear();
    for (const lease of leases) this.#look(lease);
  }

  #look(lease: LeaseKey): void {
    const busy = this.#busy.get(lease);
    if (busy !== undefined) {
      busy.isNoted = true;
      return;
    }
    const view = this.#isStopped || !this.#ports.isMine(lease) ? undefined : this.viewOf(lease);
    const isOver = view === undefined || (view.record.pending === undefined && this.#isSettled(lease));
    if (isOver && this.#chosen.delete(lease)) queueMicrotask(() => this.#lookAtNext());
    if (view === undefined || !isConcerned(view.record)) {
      this.#wheel.delete(lease);
      return;
    }
    this.#lookedAtMs = this.#ports.clock.now();
    if (!this.#isSettled(lease)) {
      this.#wheel.set(lease, this.#timing.actionLookMs);
      return;
    }
    if (this.#isFull) this.#waiting.add(lease);
    else this.#decide(lease, view);
  }

  /**
   * Whether further elections wait, so that after a fleet has died those that were chosen first can accept in time
   * before others are chosen.
   */
  get #isFull(): boolean {
    const { commandsUnderWay } = this.#ports;
    return this.#busy.size >= commandsUnderWay || this.#chosen.size >= commandsUnderWay * choicesPerCommand;
  }

  #decide(lease: LeaseKey, view: ElectionView): void {
    const now = this.#ports.clock.now();
    this.#ports.listener.onLook();
    const decision = electionDecision(view, now);
    this.#wheel.set(lease, decision.lookAgainMs);
    if (decision.action.kind !== "none") void this.#carryOut(lease, view.record, decision, now);
  }

  async #carryOut(lease: LeaseKey, record: LeaseRecord, decision: ElectionDecision, now: number): Promise<void> {
    const { clock, decisions, listener } = this.#ports;
    const busy = { isNoted: false };
    this.#busy.set(lease, busy);
    try {
      this.#settling.set(lease, await decisions.carryOut(decision, record, now));
      if (decision.action.kind === "elect") this.#chosen.add(lease);
      listener.onDone(lease, decision, clock.now() - now);
    } catch (thrown) {
      const fault = toFault(thrown);
      if (fault.code === "UNAVAILABLE") this.#wheel.set(lease, ownerAwayMs);
      listener.onRefused(lease, decision, fault);
    }
    this.#busy.delete(lease);
    if (busy.isNoted) this.note(lease);
    this.#lookAtNext();
  }

  /** Most of those that wait have nothing to do any more, so one command that is over may let many be looked at. */
  #lookAtNext(): void {
    for (const next of this.#waiting) {
      if (this.#isFull) return;
      this.#waiting.delete(next);
      this.#look(next);
    }
  }

  #isSettled(lease: LeaseKey): boolean {
    const revision = this.#settling.get(lease);
    if (revision === undefined) return true;
    const { lastSequence } = this.#ports.stateOf(partitionOf(lease, this.#ports.partitions));
    if (lastSequence < revision) return false;
    this.#settling.delete(lease);
    return true;
  }
}

/** Whether a coordinator may have something to do about a lease. */
function isConcerned({ candidates, endOfTerm }: LeaseRecord): boolean {
  return candidates !== undefined || endOfTerm !== undefined;
}
