import {
  type BeforeImages,
  type CandidateRecord,
  copyOfCandidate,
  copyOfLease,
  type Event,
  type ImagesBefore,
  type LeaseKey,
  type LeaseRecord,
  type PartitionState,
  type Transition,
} from "@tenure/core";

/** A batch that was applied: it was seen in the log, or committed by this process itself. */
export interface AppliedBatch {
  readonly partition: number;
  readonly sequence: bigint;
  readonly events: readonly Event[];
  /** The state right after the batch. */
  readonly state: PartitionState;
}

/** A candidate with the lease that it stands for. */
export interface SeenCandidate {
  readonly lease: Pick<LeaseRecord, "key" | "spec">;
  readonly candidate: CandidateRecord;
}

/** One record that a batch changed. All records in it are copies: later batches do not change them. */
export interface Change<Seen> {
  /** The lease that it is, or belongs to. */
  readonly key: LeaseKey;
  /** What it was; undefined when it did not exist. */
  readonly before: Seen | undefined;
  /** What it is; undefined when it is gone. */
  readonly after: Seen | undefined;
  /** What it is, or the last that it was. */
  readonly last: Seen;
  /** The lines of history that the batch wrote. */
  readonly lines: readonly Transition[];
  /** The record itself did not change, only what it is selected by: news for those alone whom it begins or ceases to match. */
  readonly isIndirect?: true;
}

/** What one batch changed, each record once. */
export interface ChangeSet {
  readonly partition: number;
  readonly sequence: bigint;
  /** This replica's monotonic ms when the batch was applied: what states that depend on time are shown at. */
  readonly appliedAtMs: number;
  readonly leases: readonly Change<LeaseRecord>[];
  readonly candidates: readonly Change<SeenCandidate>[];
  /** Records of which only the renewal grew; only those that somebody wants. */
  readonly renewedLeases: readonly Change<LeaseRecord>[];
  readonly renewedCandidates: readonly Change<SeenCandidate>[];
  /** What takes the batch back. */
  readonly images: ImagesBefore;
}

/** Whether somebody wants to be told of renewals of a lease or its candidates. */
export type WantsRenewals = (lease: LeaseKey) => boolean;

/** How many records a change set names, which is what keeping it costs. */
export function sizeOfChanges({ candidates, leases }: ChangeSet): number {
  return candidates.length + leases.length;
}

/** Nobody keeps the changes any longer: what they alone had is given back. */
export function forgetChanges({ leases }: ChangeSet): void {
  for (const change of leases) if (change instanceof LeaseChange) change.forget();
}

/** Whether a record is of a lease that exists and is not deleted. */
export function isExisting({ created, deletion }: LeaseRecord): boolean {
  return created !== undefined && deletion === undefined;
}

/** What a batch changed. Called right after it was applied, with the images that `apply` made meanwhile. */
export function changesOf(
  applied: AppliedBatch,
  before: BeforeImages,
  appliedAtMs: number,
  wants: WantsRenewals | undefined,
): ChangeSet {
  const { partition, sequence } = applied;
  const images = before.take();
  const leases: Change<LeaseRecord>[] = [];
  const renewedLeases: Change<LeaseRecord>[] = [];
  for (const [key, image] of images.leases) {
    const change = leaseChange(applied, key, image);
    if (change === undefined) continue;
    if (!isRenewal(change, sequence)) leases.push(change.show());
    else if (wants?.(key)) renewedLeases.push(change);
  }
  const candidates: Change<SeenCandidate>[] = [];
  const renewedCandidates: Change<SeenCandidate>[] = [];
  for (const [key, ofLease] of images.candidates) {
    for (const [name, image] of ofLease) {
      const change = candidateChange(applied, images, key, name, image);
      if (change === undefined) continue;
      if (!isCandidateRenewal(change, sequence)) candidates.push(change);
      else if (wants?.(key)) renewedCandidates.push(change);
    }
  }
  candidates.push(...leases.flatMap((change) => relabelled(applied, images, change)));
  if (wants !== undefined) renewedLeases.push(...renewals(applied, images, wants));
  return {
    partition,
    sequence,
    appliedAtMs,
    leases: fitted(leases),
    candidates: fitted(candidates),
    renewedLeases: fitted(renewedLeases),
    renewedCandidates: fitted(renewedCandidates),
    images,
  };
}

const none: readonly never[] = Object.freeze([]);

/** The same without room to spare, of which a list that has grown has much: thousands of change sets are kept. */
function fitted<Item>(items: readonly Item[]): readonly Item[] {
  return items.length === 0 ? none : items.slice();
}

/** A lease that a batch changed. Its lines are made when they are asked for: most changes concern nobody. */
class LeaseChange implements Change<LeaseRecord> {
  readonly key: LeaseKey;
  readonly before: LeaseRecord | undefined;
  readonly after: LeaseRecord | undefined;
  readonly last: LeaseRecord;
  readonly #sequence: bigint;
  readonly #record: LeaseRecord | undefined;

  constructor(
    key: LeaseKey,
    before: LeaseRecord | undefined,
    after: LeaseRecord | undefined,
    last: LeaseRecord,
    sequence: bigint,
    record: LeaseRecord | undefined,
  ) {
    this.key = key;
    this.before = before;
    this.after = after;
    this.last = last;
    this.#sequence = sequence;
    this.#record = record;
  }

  /** Has the record know its copy, which is also what it was before its next change. Not for renewals: nobody keeps them. */
  show(): this {
    if (this.#record !== undefined) this.#record.shown = this.last;
    return this;
  }

  /** Has the record forget its copy, if this change has the last one: an idle lease is kept once. */
  forget(): void {
    if (this.#record?.shown === this.last) this.#record.shown = undefined;
  }

  get lines(): readonly Transition[] {
    return this.last.linesAt(this.#sequence);
  }
}

function leaseChange(
  { sequence, state }: AppliedBatch,
  key: LeaseKey,
  image: LeaseRecord | undefined,
): LeaseChange | undefined {
  const record = state.leases.get(key);
  const before = image !== undefined && isExisting(image) ? image : undefined;
  const copy = record && copyOfLease(record);
  const after = copy !== undefined && isExisting(copy) ? copy : undefined;
  const last = copy ?? image;
  if (last === undefined) return undefined;
  const change = new LeaseChange(key, before, after, last, sequence, record);
  const isSilent = before === undefined && after === undefined && change.lines.length === 0;
  return isSilent ? undefined : change;
}

function isRenewal({ after, before }: Change<LeaseRecord>, sequence: bigint): boolean {
  return before !== undefined && after !== undefined && after.revision.sequence !== sequence;
}

function candidateChange(
  { state }: AppliedBatch,
  images: ImagesBefore,
  key: LeaseKey,
  name: string,
  image: CandidateRecord | undefined,
): Change<SeenCandidate> | undefined {
  const record = state.leases.get(key);
  const candidate = record?.candidates?.get(name);
  const lease = record && { key, spec: record.spec };
  const imageOfLease = images.leases.get(key) ?? record;
  const before = image && imageOfLease && { lease: { key, spec: imageOfLease.spec }, candidate: image };
  const after = candidate && lease && { lease, candidate: copyOfCandidate(candidate) };
  const last = after ?? before;
  return last === undefined ? undefined : { key, before, after, last, lines: [] };
}

/** The candidates of a lease whose labels changed: selectors of candidates look at them. */
function relabelled(
  { state }: AppliedBatch,
  images: ImagesBefore,
  { after, before, key }: Change<LeaseRecord>,
): readonly Change<SeenCandidate>[] {
  if (before === undefined || after === undefined || before.spec.labels === after.spec.labels) return none;
  const direct = images.candidates.get(key);
  const others = [...(state.leases.get(key)?.candidates?.values() ?? [])].filter(({ name }) => !direct?.has(name));
  return others.map((record) => {
    const candidate = copyOfCandidate(record);
    const last = { lease: { key, spec: after.spec }, candidate };
    return {
      key,
      before: { lease: { key, spec: before.spec }, candidate },
      after: last,
      last,
      lines: [],
      isIndirect: true,
    };
  });
}

function isCandidateRenewal({ after, before }: Change<SeenCandidate>, sequence: bigint): boolean {
  if (before === undefined || after === undefined) return false;
  const { coolDown, ping, revision } = after.candidate;
  return ![revision, ping?.pinged, coolDown?.from].some((position) => position?.sequence === sequence);
}

/** The leases of which the batch did nothing but renew terms, each once. */
function renewals(
  { events, state }: AppliedBatch,
  { leases }: ImagesBefore,
  wants: WantsRenewals,
): readonly Change<LeaseRecord>[] {
  const records = new Set<LeaseRecord>();
  for (const event of events) {
    if (event.kind !== "renewed") continue;
    for (const holdId of event.holdIds) {
      const record = state.holds.get(holdId)?.lease;
      if (record !== undefined && wants(record.key) && isExisting(record) && !leases.has(record.key))
        records.add(record);
    }
  }
  return [...records].map((record) => {
    const copy = copyOfLease(record);
    return { key: copy.key, before: copy, after: copy, last: copy, lines: [] };
  });
}
