import type { LeaseRecord } from "./lease.ts";
import { type Manner, shareDetails, shareManner } from "./manner.ts";
import type { Position } from "./position.ts";

/** How a lease is held: alone, with other readers, or for some units of a capacity. */
export type HoldMode = "exclusive" | "shared" | "counted";

/** How a hold came about. A fallback counts as elected; a written one comes from a client that keeps leases itself. */
export type HoldOrigin = "acquired" | "elected" | "fallback" | "written" | "stolen";

/** Why a term ended. */
export type TermEndReason =
  | "released"
  | "expired"
  | "ended"
  | "preempted"
  | "deleted"
  | "steppedDown"
  | "revoked"
  | "stolen"
  | "notAccepted"
  | "collected"
  | "written";

/** The component and release of a claimant, compared with a migration lock's eligibility. */
export interface Participant {
  readonly component: string;
  /** A strict semantic version; empty if not given. */
  readonly version: string;
  /** Hexadecimal digest of the migration configuration that the claimant runs with; empty when migration is off. */
  readonly configurationDigest: string;
}

/** Times of day, in epoch microseconds, that a client wrote into a record. Shown, never compared. */
export interface WrittenTimes {
  readonly acquiredAtMicros?: bigint;
  readonly renewedAtMicros?: bigint;
}

/** What few holds have; kept apart so that a plain hold stays small. */
export interface HoldDetails {
  /** The candidate that was elected or fell back. */
  readonly candidate?: string;
  /** The coordinator that elected. */
  readonly electedBy?: string;
  readonly decisionId?: string;
  /** The identity record of the holding process. */
  readonly identity?: string;
  readonly participant?: Participant;
  /** What the holder says of itself to observers. */
  readonly value?: Uint8Array;
  /** Hexadecimal SHA-256 of the holder's secret. The secret itself is never stored. */
  readonly renewKeyHash?: string;
  readonly writtenTimes?: WrittenTimes;
}

/** What the log says of a new term. */
export interface HoldFacts {
  /** Names this hold for ever within its partition; greater than every one before it. Below 2^53. */
  readonly id: number;
  readonly token: bigint;
  readonly holder: string;
  readonly holderKey: string;
  readonly principal: string;
  readonly mode: HoldMode;
  /** Units of a counted hold; 1 otherwise. */
  readonly units: number;
  readonly origin: HoldOrigin;
  /** L for this term. */
  readonly leaseDurationMs: number;
  /** The lease's lock delay as it was at the grant: it is part of what keeps two holders apart (rule 16). */
  readonly lockDelayMs: number;
  readonly details?: HoldDetails;
}

/** Why a running term may not be renewed any more, and who said so. */
export interface Revocation {
  readonly endReason: "revoked" | "collected";
  readonly author: string;
  readonly reason: string;
}

type Facts = Omit<HoldFacts, "details"> & { readonly details?: HoldDetails | undefined };

/** One running term. Mutated only by `apply`. */
export class Hold {
  // What a renewal looks at comes first and together: of very many terms few are in the processor's cache.
  #manner: Manner;
  details: HoldDetails | undefined;
  /** The last renewal, or the grant before the first one. L runs from when this replica saw it. */
  renewal: Position;
  readonly lease: LeaseRecord;
  readonly id: number;
  readonly token: bigint;
  readonly holder: string;
  readonly granted: Position;
  /** Takes room only once it is there, because few terms have one. */
  declare revocation?: Revocation | undefined;

  /** `holder` is the name in the facts, as the copy that terms share. */
  constructor(lease: LeaseRecord, facts: Facts, granted: Position, renewal: Position, holder = facts.holder) {
    const isCopy = facts instanceof Hold;
    this.#manner = isCopy ? facts.#manner : shareManner(facts);
    this.details = isCopy ? facts.details : facts.details && shareDetails(facts.details);
    this.renewal = renewal;
    this.lease = lease;
    this.id = facts.id;
    this.token = facts.token;
    this.holder = holder;
    this.granted = granted;
  }

  get holderKey(): string {
    return this.#manner.holderKey;
  }

  get principal(): string {
    return this.#manner.principal;
  }

  get mode(): HoldMode {
    return this.#manner.mode;
  }

  get units(): number {
    return this.#manner.units;
  }

  get origin(): HoldOrigin {
    return this.#manner.origin;
  }

  get lockDelayMs(): number {
    return this.#manner.lockDelayMs;
  }

  get leaseDurationMs(): number {
    return this.#manner.leaseDurationMs;
  }

  set leaseDurationMs(leaseDurationMs: number) {
    this.#manner = shareManner({ ...this.#manner, leaseDurationMs });
  }

  /** The term as it is now, whatever becomes of the original. */
  copy(): Hold {
    const copy = new Hold(this.lease, this, this.granted, this.renewal);
    if (this.revocation !== undefined) copy.revocation = this.revocation;
    return copy;
  }
}

/** A choice that has not been accepted. Nobody leads by it. */
export interface PendingHold {
  /** What the accept must name; the term's token if it is accepted, never given again if not. */
  readonly token: bigint;
  readonly candidate: string;
  readonly electedBy: string;
  readonly decisionId: string;
  /** How long the candidate has to accept, on the judging replica's clock. */
  readonly acceptWindowMs: number;
}

/** The mark that asks a holder to finish. It changes no deadline by itself. */
export interface EndOfTerm {
  readonly token: bigint;
  /** Who is to follow; empty when anyone may. */
  readonly preferredHolder: string;
  /** How long renewals go on being accepted after the mark, on the judging replica's clock. */
  readonly drainBoundMs: number;
  readonly author: string;
  readonly reason: string;
  /** The coordinator's decision; empty for an operator's or the holder's own wish. */
  readonly decisionId: string;
  /** How long the former holder's candidate may not be elected afterwards; absent takes the lease's cool-down. */
  readonly coolDownMs?: number;
}
