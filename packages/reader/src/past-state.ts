import type { CandidateRecord, LeaseKey, LeaseRecord, PartitionState } from "@tenure/core";
import type { ChangeSet, SeenCandidate } from "./change-set.ts";
import { placeOf } from "./name-index.ts";

/**
 * A partition as it was at a revision: its present state, with every later change taken back. Renewals are not taken
 * back, since they change no revision. Valid only until the state changes.
 */
export class PastState {
  readonly partition: number;
  readonly #state: PartitionState;
  readonly #leases = new Map<LeaseKey, LeaseRecord | undefined>();
  readonly #candidates = new Map<LeaseKey, Map<string, CandidateRecord | undefined>>();

  readonly #namesInOrder: () => readonly LeaseKey[];

  /** `later`: the changes after the revision, oldest first; `namesInOrder`: of the present. */
  constructor(state: PartitionState, later: readonly ChangeSet[], namesInOrder: () => readonly LeaseKey[]) {
    this.partition = state.partition;
    this.#state = state;
    this.#namesInOrder = namesInOrder;
    for (const { images } of later) {
      for (const [key, image] of images.leases) if (!this.#leases.has(key)) this.#leases.set(key, image);
      for (const [key, ofLease] of images.candidates) this.#takeBack(key, ofLease);
    }
  }

  /** What was kept under names that are gone now, in no order. */
  *gone(): Generator<LeaseRecord, void, undefined> {
    for (const [key, image] of this.#leases) if (image !== undefined && !this.#state.leases.has(key)) yield image;
  }

  /** What was kept under the names that are still there, from a text on, in order. */
  *inOrder(from: string): Generator<LeaseRecord, void, undefined> {
    const names = this.#namesInOrder();
    for (let place = placeOf(names, from); place < names.length; place += 1) yield* this.#one(names[place] ?? "");
  }

  /** What was kept under the names, or under all, including names of leases that do not exist. */
  *leases(names: readonly LeaseKey[] | undefined): Generator<LeaseRecord, void, undefined> {
    if (names !== undefined) {
      for (const name of names) yield* this.#one(name);
      return;
    }
    for (const [key, record] of this.#state.leases) if (!this.#leases.has(key)) yield record;
    for (const image of this.#leases.values()) if (image !== undefined) yield image;
  }

  /** The candidates of the leases, or of all. */
  *candidates(names: readonly LeaseKey[] | undefined): Generator<SeenCandidate, void, undefined> {
    for (const lease of this.leases(names)) yield* this.candidatesOf(lease);
  }

  /** The candidates of one lease. */
  *candidatesOf(lease: LeaseRecord): Generator<SeenCandidate, void, undefined> {
    const now = this.#state.leases.get(lease.key)?.candidates;
    const changed = this.#candidates.get(lease.key);
    for (const candidate of now?.values() ?? []) {
      if (changed?.has(candidate.name) !== true) yield { lease, candidate };
    }
    for (const candidate of changed?.values() ?? []) if (candidate !== undefined) yield { lease, candidate };
  }

  *#one(name: LeaseKey): Generator<LeaseRecord, void, undefined> {
    const record = this.#leases.has(name) ? this.#leases.get(name) : this.#state.leases.get(name);
    if (record !== undefined) yield record;
  }

  #takeBack(key: LeaseKey, images: ReadonlyMap<string, CandidateRecord | undefined>): void {
    const known = this.#candidates.get(key) ?? new Map<string, CandidateRecord | undefined>();
    this.#candidates.set(key, known);
    for (const [name, image] of images) if (!known.has(name)) known.set(name, image);
  }
}
