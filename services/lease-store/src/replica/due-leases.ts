import { type Event, type LeaseKey, type PartitionState, untilDueMs } from "@tenure/core";
import { type Clock, TimerWheel } from "@tenure/kernel";

/** Events after which a lease may be due at another instant. Renewals are not among them: see {@link DueLeases}. */
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
  readonly #wheel: TimerWheel<LeaseKey>;
  readonly #due = new Set<LeaseKey>();

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#wheel = new TimerWheel(clock, (lease) => {
      this.#due.add(lease);
      onDue();
    });
  }

  /** Leases that are due and wait to be judged. */
  get waiting(): number {
    return this.#due.size;
  }

  /** Sets every lease of a partition that has just been taken over. */
  watchAll(state: PartitionState): void {
    for (const lease of state.leases.keys()) this.watch(state, lease);
  }

  /** Sets the leases that a batch moved. */
  watchEvents(state: PartitionState, events: readonly Event[]): void {
    for (const event of events) {
      if (movingEvents.has(event.kind) && "lease" in event) this.watch(state, event.lease);
    }
  }

  /** Sets one lease to when it is due next; forgets it if it is not. */
  watch(state: PartitionState, lease: LeaseKey): void {
    const record = state.leases.get(lease);
    const delayMs = record === undefined ? undefined : untilDueMs(record, this.#clock.now());
    if (delayMs === undefined) this.#wheel.delete(lease);
    else this.#wheel.set(lease, delayMs);
  }

  /** Has a lease judged again after `delayMs`. */
  again(lease: LeaseKey, delayMs: number): void {
    this.#wheel.set(lease, delayMs);
  }

  /** Takes at most `count` due leases out. */
  take(count: number): readonly LeaseKey[] {
    const taken: LeaseKey[] = [];
    for (const lease of this.#due) {
      if (taken.length === count) break;
      taken.push(lease);
    }
    for (const lease of taken) this.#due.delete(lease);
    return taken;
  }

  /** Puts leases back that may not be judged before an append was acknowledged. */
  putBack(leases: readonly LeaseKey[]): void {
    for (const lease of leases) this.#due.add(lease);
  }

  [Symbol.dispose](): void {
    this.#wheel[Symbol.dispose]();
    this.#due.clear();
  }
}
