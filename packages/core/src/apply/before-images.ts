import type { LeaseKey } from "../key.ts";
import type { Event } from "../partition/event.ts";
import type { PartitionState } from "../partition/state.ts";
import type { CandidateRecord } from "../record/candidate.ts";
import type { LeaseRecord } from "../record/lease.ts";

/** What the records of one batch were before it. Undefined: nothing was kept under that name. */
export interface ImagesBefore {
  readonly leases: ReadonlyMap<LeaseKey, LeaseRecord | undefined>;
  readonly candidates: ReadonlyMap<LeaseKey, ReadonlyMap<string, CandidateRecord | undefined>>;
}

/** Whether what an event is about to do to a lease concerns anybody; the record as it is before. */
export type Concerns = (event: Event & { readonly lease: LeaseKey }, record: LeaseRecord | undefined) => boolean;

/**
 * Copies of records as they were before a batch first touched them: what the past is shown from, since `apply` works in
 * place. Filled by `apply` while a state has one, and taken when the batch is committed. Renewals leave no image, and
 * neither do guarded values.
 */
export class BeforeImages {
  readonly #concerns: Concerns | undefined;
  #leases = new Map<LeaseKey, LeaseRecord | undefined>();
  #candidates = new Map<LeaseKey, Map<string, CandidateRecord | undefined>>();

  /** Images of what concerns somebody alone; of everything when absent. */
  constructor(concerns?: Concerns) {
    this.#concerns = concerns;
  }

  /** Called before an event is applied. */
  note({ leases }: PartitionState, event: Event): void {
    if (!("lease" in event)) return;
    const record = leases.get(event.lease);
    if (event.kind !== "guardChanged" && this.#concerns?.(event, record) !== false) this.#keep(event, record);
    if (record?.shown !== undefined) record.shown = undefined;
  }

  #keep(event: Event & { readonly lease: LeaseKey }, record: LeaseRecord | undefined): void {
    const { lease } = event;
    const names = candidatesOf(event);
    if (names === undefined) {
      if (!this.#leases.has(lease)) this.#leases.set(lease, record && imageOf(record));
      return;
    }
    const images = this.#candidates.get(lease) ?? new Map<string, CandidateRecord | undefined>();
    this.#candidates.set(lease, images);
    for (const name of names) {
      const candidate = record?.candidates?.get(name);
      if (!images.has(name)) images.set(name, candidate && copyOfCandidate(candidate));
    }
  }

  /** What was noted since the last time. */
  take(): ImagesBefore {
    const taken = { leases: this.#leases, candidates: this.#candidates };
    if (taken.leases.size > 0) this.#leases = new Map();
    if (taken.candidates.size > 0) this.#candidates = new Map();
    return taken;
  }
}

/** The candidates that an event is about; undefined for an event about a lease itself or a partition. */
export function candidatesOf(event: Event): readonly string[] | undefined {
  switch (event.kind) {
    case "candidatePut":
    case "candidateRenewed":
    case "candidateAnswered":
    case "candidateRemoved":
    case "candidateCooledDown":
      return [event.candidate];
    case "candidatesPinged":
      return event.questions.map(({ candidate }) => candidate);
    default:
      return undefined;
  }
}

/** What a record is now: what was last shown of it, if it is still so, because that mostly is what the past begins with. */
function imageOf(record: LeaseRecord): LeaseRecord {
  const { shown } = record;
  if (shown === undefined || shown.revision !== record.revision) return copyOfLease(record);
  // Renewals are noted by nobody, and are part of what is shown.
  return record.hasTermsOf(shown) ? shown : copyOfLease(record);
}

/**
 * A lease's record as it is now, whatever becomes of the original. Its candidates and guarded values are not copied:
 * they are no part of what its revision stands for.
 */
export function copyOfLease(record: LeaseRecord): LeaseRecord {
  return record.copyWithTerms();
}

/** A candidate's record as it is now. */
export function copyOfCandidate(candidate: CandidateRecord): CandidateRecord {
  return { ...candidate };
}
