import type {
  Attempt,
  CandidateKey,
  Claimant,
  Grant,
  LeaseClaim,
  LeaseKey,
  PendingHold,
  Ping,
  TermEndReason,
} from "@tenure/contracts";
import type { Clock, Random } from "@tenure/kernel";
import type { RequestOf, ResponseOf, StreamMethod, UnaryMethod } from "../calls/methods.ts";
import type { TenureError } from "../errors.ts";
import type { Told } from "../renewal/keeper.ts";

/** Whether the service can be reached at present; `closed` is final. */
export type SessionState = "connected" | "reconnecting" | "closed";

/** What a caller may say about one call. */
export interface CallOptions {
  /** Aborting it rejects the call at once with CANCELLED; a change that was sent may happen all the same. */
  readonly signal?: AbortSignal | undefined;
  /** How long the caller waits for everything, retries and reconnects included; the session's default when absent. */
  readonly timeoutMs?: number | undefined;
  /** W3C trace context that the call belongs to; not traced when absent. */
  readonly traceparent?: string | undefined;
}

/** What a caller may say about one stream. */
export interface StreamOptions {
  /** Aborting it ends the iteration with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /** How many responses may be under way before the consumer has taken them; bounds memory. 64 when absent. */
  readonly credit?: number | undefined;
  /** W3C trace context that the stream belongs to; not traced when absent. */
  readonly traceparent?: string | undefined;
}

/** What is claimed, and by whom. The session adds attempt, send number and renew key. */
export interface ClaimRequest {
  /** 1 to 16 claims; several must share their routing part and are granted all or none. */
  readonly claims: readonly LeaseClaim[];
  /** Who claims. `renewKeyHash` may be left empty: it is always set to the hash of the session's own key. */
  readonly claimant: Claimant;
  /** The holder key that the claimant takes precedence over; absent claims none. */
  readonly supersedesKey?: string | undefined;
  /** The caller's candidate when it claims because no coordinator acted; absent for a plain claim. */
  readonly fallbackCandidate?: string | undefined;
}

/** How a claim waits. */
export interface ClaimOptions {
  /** Aborting it leaves the queue; a grant that comes all the same is released. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to stand in the queue. `0` or absent: not at all, and a lease that is held rejects with LEASE_HELD.
   * `"forever"`: until granted or aborted. A number: rejects with WAIT_ENDED after that many ms.
   */
  readonly waitMs?: number | "forever" | undefined;
  /** How long to try while the service gives no answer, for a claim that does not wait; the session's default when absent. */
  readonly timeoutMs?: number | undefined;
}

/** A term that began. */
export interface Granted {
  /** What the store wrote. */
  readonly grant: Grant;
  /**
   * The proven instant, on the session's clock: just before the send that the grant names. The holder's deadline is
   * this plus H. `-Infinity` when the instant is no longer known; such a term is usable only after a renewal.
   */
  readonly sentAtMs: number;
}

/** What a chosen candidate accepts. */
export interface AcceptRequest {
  readonly candidate: CandidateKey;
  /** The pending token. */
  readonly token: bigint;
  /** Who leads; `renewKeyHash` is set by the session. */
  readonly claimant: Claimant;
}

/** One term to end. */
export interface ReleaseItem {
  readonly lease: LeaseKey;
  readonly token: bigint;
}

/** How a release is sent. It takes no signal: a release that the caller's own abort stopped would be lost. */
export interface ReleaseOptions {
  /** How long to try; the session's default when absent. */
  readonly timeoutMs?: number | undefined;
  /** Why; RELEASED when absent. Only RELEASED, PREEMPTED and STEPPED_DOWN are taken by the service. */
  readonly endReason?: TermEndReason | undefined;
  /** Kept in history; at most 512 bytes. */
  readonly note?: string | undefined;
}

/** What became of a release. */
export interface ReleaseOutcome {
  /** Whether the caller held it until now, in the order of the items. A term that was over is no error. */
  readonly released: readonly boolean[];
  /** Log position of the release; 0 if nothing changed. */
  readonly revision: bigint;
}

/** A term that is to be renewed. */
export interface KeptHold {
  readonly lease: LeaseKey;
  readonly holdId: bigint;
  readonly partition: number;
  readonly token: bigint;
  /** R. Holds with the same interval are renewed together, in one message. */
  readonly renewIntervalMs: number;
  /** T: a renewal that is not answered within it counts as missed. */
  readonly requestTimeoutMs: number;
  /** The proven instant that the term has by now, on the session's clock. */
  readonly provenAtMs: number;
  /** H. The thread that renews counts the term's deadline from it, for when the main thread cannot. */
  readonly usableTermMs: number;
  /** How long before its deadline the holder finishes if no renewal was proven; when absent it goes on by itself. */
  readonly drainMs?: number | undefined;
}

/** The mark that asks a holder to finish, or its withdrawal. */
export interface EndOfTermMark {
  /** Who is to follow; empty when anyone may, or when it is not known. */
  readonly successor: string;
  /** The mark was withdrawn: the holder goes on. */
  readonly cleared: boolean;
  /** Why, for people; empty when it is not known. */
  readonly reason: string;
}

/** What is told about a kept hold. Never called from within {@link Session.keep}. */
export interface KeepListener {
  /** A renewal is in the log. `sentAtMs` is the new proven instant, higher than all that were told before. */
  onRenewed(sentAtMs: number): void;
  /** A renewal failed or was not answered within T. Renewing goes on. */
  onMissed(error: TenureError): void;
  /** Final: the store will not renew this term again (fenced, revoked, expired, end of term drained). Renewing stopped. */
  onRefused(error: TenureError): void;
  /** The holder is asked to finish, or need not finish any more. May be told more than once. */
  onEndOfTerm(mark: EndOfTermMark): void;
  /** News from the log: the term is over. The holder's own deadline may have decided earlier. */
  onEnded(reason: TermEndReason, note: string): void;
}

/** Renewals of one hold under way. Disposing it stops them; idempotent. */
export interface Keeping extends Disposable {
  /** The newest proven instant, on the session's clock; read from memory that the renewing thread writes. */
  readonly provenAtMs: number;
  /** Renews at once instead of at the next interval. */
  renewNow(): void;
  /** Renews no more, but watches on that the process does not act past the deadline, until disposed. */
  stopRenewing(): void;
}

/** A candidate whose pings and choices are followed. */
export interface CandidateListener {
  /** A coordinator asks whether the candidate is alive. The session has answered by itself. */
  onPing(ping: Ping): void;
  /** The candidate was chosen and must accept within the window to lead. */
  onPending(pending: PendingHold): void;
}

/**
 * What the upper half of the SDK stands on: one client's conversation with the service, whatever carries it. All
 * instants are on `clock.now()`: monotonic ms that count suspends and that all threads of the process share.
 *
 * Calls that are made while the service cannot be reached wait for it, up to their timeout. Whatever fails rejects with
 * a TenureError.
 */
export interface Session extends AsyncDisposable {
  /** Names the client in attempts; fresh for every session. */
  readonly clientId: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Whom the service takes the caller for. */
  readonly principal: string;
  /** The secret behind every claim of this session; guarded writes must show it (`Fence.renewKey`). Never logged. */
  readonly renewKey: Uint8Array;
  readonly state: SessionState;

  /** One unary call of tenure.v1. Not retried when it failed; only a read is sent again after a reconnect. */
  call<Method extends UnaryMethod>(
    method: Method,
    request: RequestOf<Method>,
    options?: CallOptions,
  ): Promise<ResponseOf<Method>>;

  /**
   * A change: `make` builds the request for an attempt and is called for every send, each with a higher send number.
   * Retried with the same attempt while the outcome is unknown, or surely not applied and retryable, until the timeout.
   */
  change<Method extends UnaryMethod>(
    method: Method,
    make: (attempt: Attempt, sendNumber: bigint) => RequestOf<Method>,
    options?: CallOptions,
  ): Promise<ResponseOf<Method>>;

  /**
   * A server stream; the call is made when it is iterated. Breaks with a retryable error; resuming is the caller's. Streams
   * that hear of the same change may be given one and the same response: it is not to be changed.
   */
  stream<Method extends StreamMethod>(
    method: Method,
    request: RequestOf<Method>,
    options?: StreamOptions,
  ): AsyncIterable<ResponseOf<Method>>;

  /**
   * Acquires, waiting if asked to: beats, sends the open wait again with its age after a reconnect, and takes exactly
   * one answer per attempt. The grants come in the order of the claims.
   */
  claim(claim: ClaimRequest, options?: ClaimOptions): Promise<readonly Granted[]>;

  /** Begins the term that a coordinator chose the caller for. */
  accept(request: AcceptRequest, options?: CallOptions): Promise<Granted>;

  /**
   * Renews a hold every `renewIntervalMs` until disposed; never stops by itself except on a final refusal. A thread that
   * renews has been told when this returns, unless `told` says otherwise.
   */
  keep(hold: KeptHold, listener: KeepListener, told?: Told): Keeping;

  /** Ends terms. Retried until its timeout. */
  release(items: readonly ReleaseItem[], options?: ReleaseOptions): Promise<ReleaseOutcome>;

  /** Follows the pings and choices of a candidate that this session registered; returns what ends that. */
  followCandidate(candidate: CandidateKey, listener: CandidateListener): () => void;

  /** Tells of every later change of the state; returns what ends that. */
  onState(listener: (state: SessionState, why?: TenureError) => void): () => void;
}
