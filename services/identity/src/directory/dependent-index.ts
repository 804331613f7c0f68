import {
  type CandidateRecord,
  type Concerns,
  candidatesOf,
  type LeaseKey,
  type LeaseRecord,
  type PartitionState,
  partitionOf,
} from "@tenure/core";
import type { ChangeListener, ChangeSet, WatchHub } from "@tenure/reader";

/** What stands under an identity without being named by it. */
export interface Belongings {
  /** Leases with a running term that names the identity. */
  readonly leases: ReadonlySet<LeaseKey>;
  /** Leases with a candidate that names the identity. */
  readonly candidates: ReadonlySet<LeaseKey>;
}

interface Source {
  readonly partitions: number;
  readonly hub: WatchHub;
  stateOf(partition: number): PartitionState;
}

/** Of terms, only those that name an identity, or follow one that did. */
const concerns: Concerns = (event, record) => {
  if (event.kind === "holdGranted" && event.hold.details?.identity) return true;
  return candidatesOf(event) !== undefined || (record?.holds.some(({ details }) => details?.identity) ?? false);
};

const nothing: Belongings = Object.freeze({ leases: new Set<LeaseKey>(), candidates: new Set<LeaseKey>() });

/**
 * Which leases and candidates say that they belong to an identity, so that they are found when it goes. Only names are
 * kept: whether they still belong is read from the records when it matters.
 */
export class DependentIndex implements ChangeListener, Disposable {
  readonly #source: Source;
  readonly #byIdentity = new Map<string, { leases: Set<LeaseKey>; candidates: Set<LeaseKey> }>();
  readonly #unfollow: () => void;

  constructor(source: Source) {
    this.#source = source;
    this.#unfollow = source.hub.follow(this, { concerns, wantsRenewals: false });
    this.onGap();
  }

  /** What may belong to an identity. */
  of(identity: string): Belongings {
    return this.#byIdentity.get(identity) ?? nothing;
  }

  onChanges({ candidates, leases }: ChangeSet): void {
    for (const { after, before, key } of leases) {
      for (const { details } of before?.holds ?? []) this.#forget("leases", details?.identity ?? "", key);
      if (after !== undefined) this.#noteHolds(after);
    }
    for (const { after, before, key } of candidates) {
      if (before !== undefined) this.#forgetCandidate(key, before.candidate);
      if (after !== undefined) this.#noteCandidate(key, after.candidate);
    }
  }

  onGap(): void {
    this.#byIdentity.clear();
    for (let partition = 0; partition < this.#source.partitions; partition += 1) {
      for (const record of this.#source.stateOf(partition).leases.values()) {
        this.#noteHolds(record);
        for (const candidate of record.candidates?.values() ?? []) this.#noteCandidate(record.key, candidate);
      }
    }
  }

  [Symbol.dispose](): void {
    this.#unfollow();
  }

  #noteHolds({ holds, key }: LeaseRecord): void {
    for (const { details } of holds) {
      if (details?.identity !== undefined && details.identity !== "") this.#of(details.identity).leases.add(key);
    }
  }

  #noteCandidate(lease: LeaseKey, { spec: { identity } }: CandidateRecord): void {
    if (identity !== "") this.#of(identity).candidates.add(lease);
  }

  /** Another candidate of the lease may still name the same identity. */
  #forgetCandidate(lease: LeaseKey, { spec: { identity } }: CandidateRecord): void {
    const partition = partitionOf(lease, this.#source.partitions);
    const others = this.#source.stateOf(partition).leases.get(lease)?.candidates?.values() ?? [];
    for (const { spec } of others) if (spec.identity === identity) return;
    this.#forget("candidates", identity, lease);
  }

  #forget(kind: "leases" | "candidates", identity: string, lease: LeaseKey): void {
    const known = this.#byIdentity.get(identity);
    if (known === undefined) return;
    known[kind].delete(lease);
    if (known.leases.size + known.candidates.size === 0) this.#byIdentity.delete(identity);
  }

  #of(identity: string) {
    const known = this.#byIdentity.get(identity) ?? { leases: new Set<LeaseKey>(), candidates: new Set<LeaseKey>() };
    this.#byIdentity.set(identity, known);
    return known;
  }
}
