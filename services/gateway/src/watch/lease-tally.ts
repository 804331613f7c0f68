import { LeaseCounts } from "@tenure/contracts";
import type { LeaseKey, PartitionState } from "@tenure/core";
import type { Clock } from "@tenure/kernel";
import type { AppliedBatch } from "@tenure/reader";
import { PartitionTally } from "./partition-tally.ts";

/** How many leases stand how; the system's own are not counted. */
export interface LeaseNumbers {
  /** Those that somebody holds, ending or not. */
  readonly held: number;
  readonly ending: number;
  /** Those that nobody holds, leaderless or not. */
  readonly free: number;
  readonly leaderless: number;
  /** Candidates of all of them. */
  readonly candidates: number;
  readonly identities: number;
  /** Some of those that are leaderless. */
  readonly leaderlessNames: readonly LeaseKey[];
  /** How long the one that has been leaderless for the longest is so, as far as this process saw; 0 when none is. */
  readonly longestLeaderlessMs: number;
}

/** More names than this do not fit on a screen. */
const mostNames = 10;

/** Leases by where they stand, kept up with the log rather than counted: asking costs the same however many there are. */
export class LeaseTally {
  readonly #clock: Clock;
  readonly #onLed: (leaderlessMs: number) => void;
  #partitions: readonly PartitionTally[] = [];

  /** Told of each lease that was leaderless and is held: for how long it was so. */
  constructor(clock: Clock, onLed: (leaderlessMs: number) => void = () => {}) {
    this.#clock = clock;
    this.#onLed = onLed;
  }

  /** Every partition is followed, in these states. Those that were loaded anew are counted anew. */
  follow(states: readonly PartitionState[]): void {
    const known = this.#partitions;
    this.#partitions = states.map((state, place) => {
      const before = known[place];
      return before?.state === state ? before : new PartitionTally(state, this.#clock, this.#onLed);
    });
    for (const tally of this.#partitions) {
      if (!known.includes(tally)) void tally.lookAtAll(() => this.#partitions.includes(tally));
    }
  }

  /** A batch was applied. What comes before its state is followed is seen when that is counted. */
  note({ events, partition, state }: AppliedBatch): void {
    const tally = this.#partitions[partition];
    if (tally?.state === state) tally.note(events);
  }

  /** The numbers now; undefined until every lease has been looked at once. */
  get numbers(): LeaseNumbers | undefined {
    const partitions = this.#partitions;
    if (partitions.length === 0 || !partitions.every(({ isComplete }) => isComplete)) return undefined;
    const sum = (of: (tally: PartitionTally) => number) => partitions.reduce((count, tally) => count + of(tally), 0);
    const leaderless = sum((tally) => tally.count("leaderless"));
    const now = this.#clock.now();
    return {
      held: sum(({ held }) => held),
      ending: sum((tally) => tally.count("ending")),
      free: sum((tally) => tally.count("free")) + leaderless,
      leaderless,
      candidates: sum(({ candidates }) => candidates),
      identities: sum(({ identities }) => identities),
      leaderlessNames: partitions.flatMap((tally) => [...firstOf(tally.leaderless)]).slice(0, mostNames),
      longestLeaderlessMs: Math.max(0, ...partitions.map(({ leaderlessSinceMs }) => now - (leaderlessSinceMs ?? now))),
    };
  }
}

function* firstOf(leases: Iterable<LeaseKey>): Generator<LeaseKey, void, undefined> {
  let count = 0;
  for (const lease of leases) {
    if (count === mostNames) return;
    count += 1;
    yield lease;
  }
}

/** The numbers as the API shows them. */
export function leaseCounts({ ending, free, held, leaderless, leaderlessNames, ...more }: LeaseNumbers): LeaseCounts {
  return LeaseCounts.fromPartial({
    total: BigInt(held + free),
    held: BigInt(held),
    free: BigInt(free),
    ending: BigInt(ending),
    candidates: BigInt(more.candidates),
    identities: BigInt(more.identities),
    leaderless: BigInt(leaderless),
    leaderlessNames,
  });
}
