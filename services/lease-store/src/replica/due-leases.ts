import { type Event, type LeaseKey, type LeaseRecord, type PartitionState, untilDueMs } from "@tenure/core";
import type { Clock } from "@tenure/kernel";
import { DueWheel, type TickNotes } from "./due-wheel.ts";

/** Events after which a lease may be due at an earlier instant. */
const movingEvents: ReadonlySet<Event["kind"]> = new Set<Event["kind"]>([
  "holdGranted",
  "holdChanged",
  "holdEnded",
  "holdPending",
  "pendingLapsed",
  "leaseDeleted",
  "leaseRestored",
]);

/**
 * Which leases of an owned partition are due: a term that was not renewed, a choice that was not accepted, a lock delay
 * that ended. By timer wheel, not by scan. A renewal moves nothing: when the old instant comes, the lease is found not
 * to be due yet and is set again, so that renewals cost the wheel nothing.
 */
export class DueLeases implements Disposable {
  readonly #clock: Clock;
  readonly #state: PartitionState;
  readonly #wheel: DueWheel<LeaseRecord>;
  readonly #due = new Set<LeaseKey>();

  constructor(state: PartitionState, clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#state = state;
    this.#wheel = new DueWheel(clock, ticksOfLeases, (record) => {
      if (state.leases.get(record.key) !== record) return undefined;
      const dueMs = untilDueMs(record, clock.now());
      if (dueMs !== undefined && dueMs > 0) return dueMs;
      // What is not due for anything any more may have been waited for: its lock delay has passed.
      this.#due.add(record.key);
      onDue();
      return undefined;
    });
  }

  /** Leases that are due and wait to be judged. */
  get waiting(): number {
    return this.#due.size;
  }

  /** Sets every lease of a partition that has just been taken over. */
  watchAll(): void {
    for (const record of this.#state.leases.values()) {
      record.dueTick = 0; // An earlier ownership's wheel may have had it.
      this.#watch(record);
    }
  }

  /** Sets the leases that a batch moved. */
  watchEvents(events: readonly Event[]): void {
    for (const event of events) {
      if (movingEvents.has(event.kind) && "lease" in event) this.watch(event.lease);
    }
  }

  /** Has one lease looked at when it is due next. */
  watch(lease: LeaseKey): void {
    const record = this.#state.leases.get(lease);
    if (record !== undefined) this.#watch(record);
  }

  /**
   * Has at most `count` due leases judged anew, as long as there is room for what ends. The judge says after how many ms
   * to ask again, if at all, or that an append must be acknowledged first (rule 17): then the lease stays due, and the
   * answer is true.
   */
  judge(count: number, hasRoom: () => boolean, judge: (lease: LeaseKey) => number | "nextBatch" | undefined): boolean {
    const next: LeaseKey[] = [];
    for (const lease of this.#due) {
      if (next.length === count) break;
      next.push(lease);
    }
    let needsProof = false;
    for (const lease of next) {
      if (!hasRoom()) break;
      this.#due.delete(lease);
      const retry = judge(lease);
      if (retry === "nextBatch") {
        needsProof = true;
        this.#due.add(lease);
      } else if (retry !== undefined) this.#again(lease, retry);
    }
    return needsProof;
  }

  [Symbol.dispose](): void {
    this.#wheel[Symbol.dispose]();
    this.#due.clear();
  }

  #again(lease: LeaseKey, delayMs: number): void {
    const record = this.#state.leases.get(lease);
    if (record !== undefined) this.#wheel.set(record, delayMs);
  }

  #watch(record: LeaseRecord): void {
    const delayMs = untilDueMs(record, this.#clock.now());
    if (delayMs !== undefined) this.#wheel.set(record, delayMs);
  }
}

/** A lease carries its tick itself. */
const ticksOfLeases: TickNotes<LeaseRecord> = {
  get: ({ dueTick }) => dueTick,
  set: (record, tick) => {
    record.dueTick = tick;
  },
};
