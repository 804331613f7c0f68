import type { LeaseKey } from "../key.ts";
import type { CandidateSpec, Cordon, Priority } from "../record/candidate.ts";
import type { Eligibility } from "../record/eligibility.ts";
import type { HoldMode, Participant, TermEndReason, WrittenTimes } from "../record/hold.ts";
import type { LeaseSpec } from "../record/lease-spec.ts";
import type { Strategy, StrategyConflict, StrategySetting } from "../record/strategy.ts";
import type { Timing } from "../timing.ts";
import type { SnapshotReference } from "./event.ts";
import type { Settings } from "./settings.ts";

/** The name of one attempt to change something (rule 4). */
export interface Attempt {
  readonly clientId: string;
  readonly number: bigint;
  /** The client promises never to retry an attempt below this number. */
  readonly settledBelow: bigint;
}

/** What every command carries. The principal was authenticated by whoever received the call, never by its body. */
export interface CommandHeader {
  readonly principal: string;
  readonly attempt?: Attempt;
  /** Why, for history and audit. */
  readonly reason?: string;
  /** Checks everything and changes nothing. */
  readonly isDryRun?: boolean;
}

/** Who claims. */
export interface Claimant {
  readonly holder: string;
  readonly holderKey?: string;
  readonly renewKeyHash?: string;
  readonly identity?: string;
  readonly participant?: Participant;
  readonly value?: Uint8Array;
  /** Absent: the lease's own L, and nothing else is known of the claimant's durations. */
  readonly timing?: Timing;
}

/** One lease that a call claims. */
export interface Claim {
  readonly lease: LeaseKey;
  readonly mode: HoldMode;
  readonly units: number;
  /** Used only when the claim creates the lease. */
  readonly spec?: LeaseSpec;
}

/** How a claim waits. */
export interface Wait {
  /** Undefined waits until the call is abandoned. */
  readonly timeoutMs: number | undefined;
  /** How long the claim has been waiting at owners before this one. */
  readonly ageMs: number;
  /** The newest beat that the claimant has sent. */
  readonly beatNumber: bigint;
  /** The key of a holder that the claimant takes precedence over; absent: of none. */
  readonly supersedesKey?: string;
}

/** A hold as a client that keeps leases itself writes it. The token and transitions are the server's. */
export interface WrittenHold {
  /** Empty writes a free lease. */
  readonly holder: string;
  readonly holderKey: string;
  readonly leaseDurationMs: number | undefined;
  readonly times: WrittenTimes;
  readonly strategy: Strategy | undefined;
  /** Undefined leaves it; empty clears it. */
  readonly preferredHolder: string | undefined;
}

/** Commands about a lease's record. */
export type LeaseCommand =
  | { readonly kind: "create"; readonly lease: LeaseKey; readonly spec: LeaseSpec; readonly written?: WrittenHold }
  | {
      readonly kind: "update";
      readonly lease: LeaseKey;
      readonly expectedRevision: bigint | undefined;
      /** Undefined does not compare. */
      readonly expectedUid: number | undefined;
      /** The fields to replace. */
      readonly spec: Partial<LeaseSpec>;
      readonly written?: WrittenHold;
      readonly createIfAbsent: boolean;
    }
  | {
      readonly kind: "delete";
      readonly lease: LeaseKey;
      readonly expectedRevision: bigint | undefined;
      readonly expectedUid: number | undefined;
    }
  | {
      readonly kind: "putStrategy";
      readonly lease: LeaseKey;
      /** 0: the lease must not exist and is created. */
      readonly expectedRevision: bigint;
      readonly strategy: Omit<StrategySetting, "author" | "reason"> | undefined;
      readonly conflict: StrategyConflict | undefined;
    }
  | {
      readonly kind: "putMigration";
      readonly lease: LeaseKey;
      /** The configuration's revision; 0: there must be none; undefined does not compare. */
      readonly expectedRevision: bigint | undefined;
      readonly configuration: Uint8Array | undefined;
      readonly eligibility: Eligibility | undefined;
      /** The lock must be free, or held by who runs with this configuration already: the set of its controllers changes. */
      readonly isUnlessHeld?: boolean;
    }
  | { readonly kind: "recordDecision"; readonly lease: LeaseKey; readonly id: string; readonly body: Uint8Array }
  | {
      readonly kind: "collectLease";
      readonly lease: LeaseKey;
      readonly expectedRevision: bigint;
      readonly expectedRenewalRevision: bigint;
      /** How long past its duration the last term must be. */
      readonly graceMs: number;
      /** Collect also what is not expired, because what it depended on is gone. */
      readonly isDependent: boolean;
    };

/** Commands about terms. */
export type TermCommand =
  | {
      readonly kind: "acquire";
      readonly claims: readonly Claim[];
      readonly claimant: Claimant;
      readonly sendNumber: bigint;
      readonly wait?: Wait;
      /** The caller's registered candidate, when it claims because no coordinator acted. */
      readonly fallbackCandidate?: string;
      /** The caller has left and only asks what became of the attempt: nothing is claimed any more. */
      readonly isGivenUp?: boolean;
    }
  | {
      readonly kind: "renew";
      readonly renewKeyHash?: string;
      readonly items: readonly {
        readonly lease: LeaseKey;
        readonly token: bigint;
        readonly sendNumber: bigint;
        readonly leaseDurationMs?: number;
      }[];
    }
  | {
      readonly kind: "release";
      readonly items: readonly { readonly lease: LeaseKey; readonly token: bigint }[];
      readonly renewKeyHash?: string;
      readonly endReason?: Extract<TermEndReason, "released" | "preempted" | "steppedDown">;
    }
  | {
      readonly kind: "elect";
      readonly lease: LeaseKey;
      readonly expectedRevision: bigint;
      readonly candidate: string;
      readonly coordinator: string;
      readonly decision?: { readonly id: string; readonly body: Uint8Array };
      readonly strategy?: Strategy;
      readonly acceptWindowMs?: number;
    }
  | {
      readonly kind: "accept";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly token: bigint;
      readonly claimant: Claimant;
      readonly sendNumber: bigint;
    }
  | {
      readonly kind: "markEndOfTerm";
      readonly lease: LeaseKey;
      readonly expectedRevision: bigint;
      readonly token: bigint;
      readonly preferredHolder: string;
      readonly drainBoundMs?: number;
      readonly coolDownMs?: number;
      /** Present for a coordinator's mark. */
      readonly decision?: { readonly id: string; readonly body: Uint8Array };
    }
  | { readonly kind: "clearEndOfTerm"; readonly lease: LeaseKey; readonly expectedRevision: bigint }
  | {
      readonly kind: "revoke";
      readonly lease: LeaseKey;
      readonly expectedRevision: bigint;
      /** 0 revokes all running terms. */
      readonly token: bigint;
      /** Whom the queue prefers when the lease becomes free: a transfer. Empty: anyone. */
      readonly successor?: string;
    }
  | {
      readonly kind: "steal";
      readonly lease: LeaseKey;
      readonly expectedRevision: bigint;
      readonly claimant: Claimant;
      readonly sendNumber: bigint;
    }
  /** Ends what is overdue on one lease, judged anew. Both revisions are compared if given (rule 6). */
  | {
      readonly kind: "expire";
      readonly lease: LeaseKey;
      readonly expectedRevision?: bigint;
      readonly expectedRenewalRevision?: bigint;
    };

/** Commands about candidates. */
export type CandidateCommand =
  | {
      readonly kind: "registerCandidate";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly spec: CandidateSpec;
      /** Undefined keeps the one it has. */
      readonly priority?: Pick<Priority, "value" | "expiresAfterMs">;
    }
  | {
      readonly kind: "updateCandidate";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly expectedRevision: bigint | undefined;
      readonly spec: Partial<CandidateSpec>;
    }
  | {
      readonly kind: "ackCandidates";
      readonly answers: readonly {
        readonly lease: LeaseKey;
        readonly candidate: string;
        readonly pingNumber: bigint;
      }[];
    }
  | {
      readonly kind: "pingCandidates";
      readonly lease: LeaseKey;
      readonly candidates: readonly string[];
      readonly coordinator: string;
    }
  | {
      readonly kind: "withdrawCandidate";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly expectedRevision: bigint | undefined;
    }
  | {
      readonly kind: "setPriority";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly expectedRevision: bigint | undefined;
      readonly priority: Pick<Priority, "value" | "expiresAfterMs"> | undefined;
    }
  | {
      readonly kind: "setCordon";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly expectedRevision: bigint | undefined;
      readonly cordon: Pick<Cordon, "expiresAfterMs"> | undefined;
    }
  | {
      readonly kind: "collectCandidate";
      readonly lease: LeaseKey;
      readonly candidate: string;
      readonly expectedRevision: bigint;
      readonly expectedRenewalRevision: bigint;
      readonly graceMs: number;
      readonly isDependent: boolean;
    };

/** Writes guarded values as the holder of a lease (rule 22). */
export interface GuardCommand {
  readonly kind: "guard";
  readonly lease: LeaseKey;
  readonly token: bigint;
  readonly renewKeyHash?: string;
  readonly comparisons: readonly GuardComparison[];
  readonly changes: readonly { readonly key: string; readonly value: Uint8Array | undefined }[];
}

/** What must hold of one key; a revision of 0 means that it does not exist. */
export type GuardComparison = { readonly key: string } & (
  | { readonly revisionIs: bigint }
  | { readonly valueIs: Uint8Array }
);

/** Commands of the owner about its own partition. */
export type OwnerCommand =
  | { readonly kind: "takeOver"; readonly epoch: bigint; readonly owner: string; readonly isHandedOver: boolean }
  | { readonly kind: "handOver"; readonly successor: string }
  | { readonly kind: "announceSnapshot"; readonly snapshot: SnapshotReference }
  | { readonly kind: "changeSettings"; readonly settings: Settings }
  /** Starts the pause after a restore, or ends it when it has passed. */
  | { readonly kind: "beginRecovery" }
  | { readonly kind: "endRecovery" }
  | { readonly kind: "forgetAttempts"; readonly client: string; readonly belowNumber: bigint }
  | { readonly kind: "removeTombstones"; readonly leases: readonly LeaseKey[] };

/** What a command asks for, without its header. */
export type CommandBody = LeaseCommand | TermCommand | CandidateCommand | GuardCommand | OwnerCommand;

/** A command to the owner of a partition. */
export type Command = CommandBody & CommandHeader;

/** A command of one kind. */
export type CommandOf<K extends CommandBody["kind"]> = Extract<CommandBody, { readonly kind: K }> & CommandHeader;
