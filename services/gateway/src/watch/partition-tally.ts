import { type Event, isIdentityNamespace, isOfSystem, type LeaseKey, type PartitionState } from "@tenure/core";
import type { Clock } from "@tenure/kernel";
import { type LeaseStanding, standingOf } from "./lease-standing.ts";

/** Records that are looked at in one go: about a millisecond, since sessions wait meanwhile. */
const recordsAtOnce = 5_000;

/** Frequent facts that leave a lease where it stands. */
const indifferent: ReadonlySet<Event["kind"]> = new Set([
  "holdChanged",
  "guardChanged",
  "decisionRecorded",
  "candidateRenewed",
  "candidatesPinged",
  "candidateAnswered",
]);

type Unusual = Exclude<LeaseStanding, "held">;

/**
 * Where the leases of one partition stand, kept up with what the log says. Remembers only those that are not simply held:
 * the others are what the partition has beside them, so a million held leases take no room here.
 */
export class PartitionTally {
  readonly state: PartitionState;
  readonly #clock: Clock;
  readonly #onLed: (leaderlessMs: number) => void;
  readonly #unusual = new Map<LeaseKey, Unusual>();
  readonly #counts: Record<Unusual, number> = { ending: 0, free: 0, leaderless: 0, deleted: 0 };
  /** In the order in which they became so. */
  readonly #leaderlessSinceMs = new Map<LeaseKey, number>();
  /** Of leases that have some. */
  readonly #candidatesOf = new Map<LeaseKey, number>();
  #candidates = 0;
  #isComplete = false;

  constructor(state: PartitionState, clock: Clock, onLed: (leaderlessMs: number) => void) {
    this.state = state;
    this.#clock = clock;
    this.#onLed = onLed;
  }

  /** Whether every lease has been looked at. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** How many stand so. */
  count(standing: Unusual): number {
    return this.#counts[standing];
  }

  /** How many leases are held, ending or not. Goes through namespaces, never through leases. */
  get held(): number {
    let existing = 0;
    for (const [namespace, count] of this.state.namespaces) if (!isOfSystem(namespace)) existing += count;
    const { deleted, free, leaderless } = this.#counts;
    return existing - free - leaderless - deleted;
  }

  /** Candidates of all leases. */
  get candidates(): number {
    return this.#candidates;
  }

  get identities(): number {
    let identities = 0;
    for (const [namespace, count] of this.state.namespaces) if (isIdentityNamespace(namespace)) identities += count;
    return identities;
  }

  /** Those that are leaderless, for the longest first. */
  get leaderless(): Iterable<LeaseKey> {
    return this.#leaderlessSinceMs.keys();
  }

  /** Since when the lease that has been leaderless for the longest is so; undefined when none is. */
  get leaderlessSinceMs(): number | undefined {
    const [longest] = this.#leaderlessSinceMs.values();
    return longest;
  }

  /** Looks at every lease once, in steps. What changes meanwhile is noted as always: only the present counts. */
  async lookAtAll(isWanted: () => boolean): Promise<void> {
    let seen = 0;
    for (const lease of this.state.leases.keys()) {
      seen += 1;
      if (seen % recordsAtOnce === 0) {
        await this.#clock.sleep(0);
        if (!isWanted()) return;
      }
      this.#look(lease);
    }
    this.#isComplete = true;
  }

  /** These facts were applied to the state. */
  note(events: readonly Event[]): void {
    for (const event of events) if ("lease" in event && !indifferent.has(event.kind)) this.#look(event.lease);
  }

  #look(lease: LeaseKey): void {
    const record = this.state.leases.get(lease);
    const now = this.#clock.now();
    const standing = record && standingOf(record, now);
    this.#noteCandidates(lease, standing === undefined || standing === "deleted" ? 0 : (record?.candidates?.size ?? 0));
    const before = this.#unusual.get(lease);
    const after = standing === "held" ? undefined : standing;
    if (before === after) return;
    if (before !== undefined) this.#counts[before] -= 1;
    if (after === undefined) this.#unusual.delete(lease);
    else {
      this.#unusual.set(lease, after);
      this.#counts[after] += 1;
    }
    if (after === "leaderless") this.#leaderlessSinceMs.set(lease, now);
    else if (before === "leaderless") this.#leaveLeaderless(lease, standing, now);
  }

  #noteCandidates(lease: LeaseKey, count: number): void {
    const before = this.#candidatesOf.get(lease) ?? 0;
    if (count === before) return;
    this.#candidates += count - before;
    if (count === 0) this.#candidatesOf.delete(lease);
    else this.#candidatesOf.set(lease, count);
  }

  /** Only a holder ends the want of one; candidates that go away or a deleted lease do not. */
  #leaveLeaderless(lease: LeaseKey, standing: LeaseStanding | undefined, now: number): void {
    const sinceMs = this.#leaderlessSinceMs.get(lease) ?? now;
    this.#leaderlessSinceMs.delete(lease);
    if (standing === "held" || standing === "ending") this.#onLed(now - sinceMs);
  }
}
