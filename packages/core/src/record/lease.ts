import type { LeaseKey } from "../key.ts";
import type { CandidateRecord } from "./candidate.ts";
import type { DecisionRecord, Eligibility, MigrationRecord } from "./eligibility.ts";
import type { GuardedValue } from "./guarded.ts";
import { extendHistory, type History, historyOf, linesOf, newestLine, type Said } from "./history.ts";
import { type EndOfTerm, Hold, type PendingHold, type TermEndReason } from "./hold.ts";
import { defaultLeaseSpec, type LeaseSpec } from "./lease-spec.ts";
import type { Position } from "./position.ts";
import type { StrategyConflict, StrategySetting } from "./strategy.ts";
import type { Transition } from "./transition.ts";

/** Who deleted a lease whose term may still be acting, and why. */
export interface Deletion {
  readonly endReason: "deleted" | "collected";
  readonly author: string;
  readonly reason: string;
}

const none: readonly never[] = Object.freeze([]);

/**
 * All that a partition keeps under one lease name. It outlives the lease: after a deletion its last token, history,
 * candidates, eligibility and lock delay stay, so that no later term can have a lower token and no rule is lost by
 * deleting and creating again. Mutated only by `apply`.
 *
 * There are very many of them, so what most never have takes room only once it is there, one term needs no list, and
 * history is linked.
 */
export class LeaseRecord {
  readonly key: LeaseKey;
  /** When the lease was created; undefined while no lease of this name exists. */
  created: Position | undefined = undefined;
  /** Fresh for every creation of the name; 0 while it does not exist. */
  uid = 0;
  /** The last change other than a renewal. */
  revision: Position;
  spec: LeaseSpec = defaultLeaseSpec;
  /** The highest token ever given for this name. */
  lastToken = 0n;
  transitions = 0;
  lastEndReason: TermEndReason | undefined = undefined;
  /** Since when nobody holds it and no choice is pending; what the fallback delay runs from. */
  freeSince: Position;
  /** The named successor; empty if none. */
  preferredHolder = "";
  /** Whether older lines of history were dropped. */
  isHistoryTruncated = false;
  /** Where the timer wheel of the partition's owner has it; 0 when it does not. Not replicated, and no rule reads it. */
  dueTick = 0;
  /** The last copy that was made to be shown, unless the record has changed since. Not replicated, and no rule reads it. */
  shown: LeaseRecord | undefined = undefined;
  declare pending?: (PendingHold & { readonly from: Position }) | undefined;
  /** Nothing is granted before this has passed: the lock delay of a term that ended without a release. */
  declare lockDelay?: { readonly from: Position; readonly delayMs: number } | undefined;
  /** Present while a deleted lease's term may still be acting. */
  declare deletion?: Deletion | undefined;
  declare strategy?: (StrategySetting & { readonly set: Position }) | undefined;
  declare conflict?: (StrategyConflict & { readonly since: Position }) | undefined;
  declare endOfTerm?: (EndOfTerm & { readonly marked: Position }) | undefined;
  declare eligibility?: Eligibility | undefined;
  declare migration?: MigrationRecord | undefined;
  declare candidates?: Map<string, CandidateRecord> | undefined;
  declare guarded?: Map<string, GuardedValue> | undefined;
  declare decisions?: readonly DecisionRecord[] | undefined;
  #running: Hold | readonly Hold[] | undefined = undefined;
  #history: History | undefined = undefined;

  /** The record of a name of which nothing is known yet. */
  constructor(key: LeaseKey, position: Position) {
    this.key = key;
    this.revision = position;
    this.freeSince = position;
  }

  /** The running terms in order of token; at most one if exclusive. A list of its own for each who asks. */
  get holds(): readonly Hold[] {
    const running = this.#running;
    if (running === undefined) return none;
    return running instanceof Hold ? [running] : running;
  }

  set holds(holds: readonly Hold[]) {
    this.#running = holds.length > 1 ? holds : holds[0];
  }

  /** Whether a term runs. */
  get isHeld(): boolean {
    return this.#running !== undefined;
  }

  /** The running term with this token. */
  holdWith(token: bigint): Hold | undefined {
    const running = this.#running;
    if (running instanceof Hold) return running.token === token ? running : undefined;
    return running?.find((hold) => hold.token === token);
  }

  /** A term began: its token is the highest. */
  addHold(hold: Hold): void {
    // An array of exactly that length: one that grows by itself reserves room for sixteen more.
    this.#running = this.#running === undefined ? hold : this.holds.concat([hold]);
  }

  /** A term is over. */
  removeHold(hold: Hold): void {
    if (this.#running === hold) this.#running = undefined;
    else this.holds = this.holds.filter((running) => running !== hold);
  }

  /** Whether another record of the name shows the same terms, last renewed at the same positions. */
  hasTermsOf(other: LeaseRecord): boolean {
    const [running, others] = [this.#running, other.#running];
    if (running instanceof Hold && others instanceof Hold) return running.renewal === others.renewal;
    const holds = other.holds;
    return this.holds.every(({ renewal }, index) => holds[index]?.renewal === renewal);
  }

  /** What happened to the name, oldest first. Made for each who asks. */
  get history(): readonly Transition[] {
    return linesOf(this.#history);
  }

  set history(lines: readonly Transition[]) {
    this.#history = historyOf(lines);
  }

  /** The lines of history that the batch at this sequence wrote, if it is the last one that wrote any. */
  linesAt(sequence: bigint): readonly Transition[] {
    return linesOf(this.#history, ({ position }) => position.sequence === sequence);
  }

  /** How and where the last term of a holder ended, as far as history goes back. */
  lastEndOf(holder: string): Pick<Transition, "cause" | "position"> | undefined {
    return newestLine(this.#history, (line) => line.kind === "ended" && line.holder === holder);
  }

  /** Adds a line to the history and drops the oldest beyond `most`. */
  addLine(line: Said, most: number): void {
    const { count = 0 } = this.#history ?? {};
    this.#history = extendHistory(this.#history, line, most);
    if (this.#history.count <= count) this.isHistoryTruncated = true;
  }

  /** The record as it is now, with copies of its terms; its candidates and guarded values are those of the original. */
  copyWithTerms(): LeaseRecord {
    const copy = this.copy();
    const running = this.#running;
    copy.#running = running instanceof Hold ? running.copy() : running?.map((hold) => hold.copy());
    return copy;
  }

  /** The record as it is now, with some changes; its terms, candidates and guarded values are those of the original. */
  copy(changes?: LeaseChanges): LeaseRecord {
    const copy = new LeaseRecord(this.key, this.revision);
    copy.created = this.created;
    copy.uid = this.uid;
    copy.spec = this.spec;
    copy.lastToken = this.lastToken;
    copy.transitions = this.transitions;
    copy.lastEndReason = this.lastEndReason;
    copy.freeSince = this.freeSince;
    copy.preferredHolder = this.preferredHolder;
    copy.isHistoryTruncated = this.isHistoryTruncated;
    copy.dueTick = this.dueTick;
    copy.#running = this.#running;
    copy.#history = this.#history;
    copyRare(this, copy);
    return changes === undefined ? copy : Object.assign(copy, changes);
  }
}

/** Gives a copy what most records never have. One by one, because going through all properties costs several times that. */
function copyRare(record: LeaseRecord, copy: LeaseRecord): void {
  if (record.pending !== undefined) copy.pending = record.pending;
  if (record.lockDelay !== undefined) copy.lockDelay = record.lockDelay;
  if (record.deletion !== undefined) copy.deletion = record.deletion;
  if (record.strategy !== undefined) copy.strategy = record.strategy;
  if (record.conflict !== undefined) copy.conflict = record.conflict;
  if (record.endOfTerm !== undefined) copy.endOfTerm = record.endOfTerm;
  if (record.eligibility !== undefined) copy.eligibility = record.eligibility;
  if (record.migration !== undefined) copy.migration = record.migration;
  if (record.candidates !== undefined) copy.candidates = record.candidates;
  if (record.guarded !== undefined) copy.guarded = record.guarded;
  if (record.decisions !== undefined) copy.decisions = record.decisions;
}

/** What a copy may be given instead of what the original has. */
export type LeaseChanges = Partial<
  Pick<
    LeaseRecord,
    "created" | "holds" | "pending" | "lastEndReason" | "strategy" | "conflict" | "endOfTerm" | "candidates"
  >
>;

/**
 * The log position of the newest renewal of the running terms; 0 if there is none. A term's grant is not a renewal.
 * When a term ends the record's revision passes its renewals, so the larger of the two never goes back.
 */
export function renewalRevisionOf(record: LeaseRecord): bigint {
  let newest = 0n;
  for (const hold of record.holds) {
    if (hold.renewal !== hold.granted && hold.renewal.sequence > newest) newest = hold.renewal.sequence;
  }
  return newest;
}

/** What a compatible front shows as the record's version: the larger of revision and renewal revision (rule 6). */
export function shownRevisionOf(record: LeaseRecord): bigint {
  const renewal = renewalRevisionOf(record);
  return renewal > record.revision.sequence ? renewal : record.revision.sequence;
}
