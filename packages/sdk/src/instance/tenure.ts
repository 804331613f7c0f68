import type { ControllerManager, ControllerManagerOptions } from "../controllers/index.ts";
import type { TenureError } from "../errors.ts";
import type { HealthHandler, HealthOptions } from "../health/leader-health.ts";
import type { InstanceSelector } from "../identity/instance.ts";
import type { Instances } from "../identity/instances.ts";
import type { OwnIdentity } from "../identity/own-identity.ts";
import type { CampaignOptions } from "../lead/campaign.ts";
import type { LeadOptions, Work } from "../lead/lead.ts";
import type { Leases } from "../leases/leases.ts";
import type { Lock } from "../locks/lock.ts";
import type { LockOptions } from "../locks/lock-options.ts";
import type { LockSet } from "../locks/lock-set.ts";
import type { ClientMetrics } from "../metrics/client-metrics.ts";
import type { Observation } from "../observe/observation.ts";
import type { ObserveOptions } from "../observe/observe.ts";
import type { Session, SessionState } from "../session/session.ts";
import type { LeaseInput, LeaseName } from "../term/lease-name.ts";
import type { Term } from "../term/term.ts";
import type { RunningTerm } from "./running-terms.ts";

/** A connected client. Closing it, or leaving its block, asks all its terms to finish, waits for that, and hangs up. */
export interface Tenure extends AsyncDisposable {
  /** The identity that this client's holds show. */
  readonly holder: string;
  /** Whom the service takes this client for. */
  readonly principal: string;
  /** Whether the service can be reached at present. Terms do not depend on it: their deadline does. */
  readonly state: SessionState;

  /**
   * Leads for ever: campaigns, runs the function once per term, ends it by `term.signal` before the term can be anyone
   * else's, releases when it has returned, and campaigns again. Resolves when `signal` is aborted or the client closes.
   */
  lead(lease: LeaseInput, work: Work<unknown>): Promise<void>;
  /** Leads for one term and resolves with what the function returned; undefined if stopped before. */
  lead<Result>(
    lease: LeaseInput,
    options: LeadOptions & { readonly once: true },
    work: Work<Result>,
  ): Promise<Result | undefined>;
  /** Leads with options; see the first form. */
  lead(lease: LeaseInput, options: LeadOptions, work: Work<unknown>): Promise<void>;

  /** The terms that {@link lead} runs its function for, as a loop: `for await (await using term of ...)`. */
  campaign(lease: LeaseInput, options?: CampaignOptions): AsyncGenerator<Term, void, undefined>;

  /** Runs controllers under a primary lock and migration locks; add them, then `run`. */
  controllerManager(options: ControllerManagerOptions): ControllerManager;

  /** Who leads: the present state, then every change. Resumes by itself; ends when the signal is aborted. */
  observe(lease: LeaseInput, options?: ObserveOptions): AsyncGenerator<Observation, void, undefined>;

  /** Calls the listener with each new leader's identity, the first seen and this client included; returns what ends it. */
  onNewLeader(lease: LeaseInput, listener: (holder: string) => void): () => void;

  /** Takes a lock, waiting unless told not to. */
  lock(name: LeaseInput, options?: LockOptions): Promise<Lock>;
  /** Takes a lock if it is free at this moment; undefined otherwise. */
  tryLock(name: LeaseInput, options?: Omit<LockOptions, "wait">): Promise<Lock | undefined>;
  /** Takes 1 to 16 locks of one routing part (the name up to the first `:`), all or none. */
  lockAll(names: readonly LeaseInput[], options?: LockOptions): Promise<LockSet>;

  /** This process's own registration; undefined unless `register` was given to `connect`. */
  readonly identity: OwnIdentity | undefined;
  /** The instances that registered: those that match, listed or followed. */
  instances(selector?: InstanceSelector): Instances;

  /** The records of leases. */
  readonly leases: Leases;
  /** What this client has counted. */
  readonly metrics: ClientMetrics;
  /** The session underneath, for calls that have no form of their own here. */
  readonly session: Session;

  /** The running term of a lease, if this client has one. */
  termOf(lease: LeaseInput | LeaseName): RunningTerm | undefined;
  /** A handler of `/leader`, `/standby` and `/healthz` for node:http; see {@link leaderHealth}. */
  health(leases: LeaseInput | readonly LeaseInput[], options?: HealthOptions): HealthHandler;

  /** Tells of every later change of {@link state}; returns what ends that. */
  onState(listener: (state: SessionState, why?: TenureError) => void): () => void;
  /** Asks all terms to finish, waits until they have, and hangs up. Idempotent. Not to be awaited within a term. */
  close(): Promise<void>;
}
