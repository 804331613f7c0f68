import { setMaxListeners } from "node:events";
import { defaultTimingPolicy, type TimingPolicy } from "@tenure/core";
import { ControllerManager, type ControllerManagerOptions } from "../controllers/index.ts";
import { TenureError, toTenureError } from "../errors.ts";
import { type HealthHandler, type HealthOptions, leaderHealth } from "../health/leader-health.ts";
import type { IdentityOptions } from "../identity/identity-options.ts";
import type { InstanceSelector } from "../identity/instance.ts";
import { Instances } from "../identity/instances.ts";
import { OwnIdentity } from "../identity/own-identity.ts";
import { type CampaignOptions, campaign, planCampaign } from "../lead/campaign.ts";
import { type LeadOptions, lead, type Work } from "../lead/lead.ts";
import { Leases } from "../leases/leases.ts";
import { type Lock, takeLock, takeLocks, tryLock } from "../locks/lock.ts";
import type { LockOptions } from "../locks/lock-options.ts";
import type { LockSet } from "../locks/lock-set.ts";
import { ClientMetrics } from "../metrics/client-metrics.ts";
import type { Tracer } from "../metrics/tracer.ts";
import type { Observation } from "../observe/observation.ts";
import { type ObserveOptions, observe, tellNewLeaders } from "../observe/observe.ts";
import type { Session, SessionState } from "../session/session.ts";
import { type LeaseInput, type LeaseName, leaseNameOf } from "../term/lease-name.ts";
import type { Term } from "../term/term.ts";
import { callSafely } from "../term/typed-listeners.ts";
import { resolveTiming } from "../timing/check-timing.ts";
import { type DurationInput, optionError, toMs } from "../timing/duration-input.ts";
import type { TimingOptions } from "../timing/term-timing.ts";
import { type ClientContext, refuseIfClosed } from "./client-context.ts";
import type { ClientEvent } from "./client-event.ts";
import { type EndProcess, endThisProcess } from "./end-process.ts";
import { makeHolderId } from "./holder-id.ts";
import { type RunningTerm, RunningTerms } from "./running-terms.ts";
import type { Tenure } from "./tenure.ts";

/** What a client is told besides how to reach the service. */
export interface ClientOptions {
  /** The identity that holds show; host, process id and six random digits unless given. At most 253 bytes. */
  readonly identity?: string | undefined;
  /** Registers this process as an instance of a component for as long as the client lives; see `tenure.identity`. */
  readonly register?: IdentityOptions | undefined;
  /** The namespace of leases that are named without one. */
  readonly namespace?: string | undefined;
  /** Durations of every term that does not say otherwise. */
  readonly timing?: TimingOptions | undefined;
  /** What the deployment assumes of clocks and processes, where it is not the default; must be what its servers assume. */
  readonly policy?: Partial<TimingPolicy> | undefined;
  /** How long a call tries when it does not say. Default 5 s. */
  readonly callTimeout?: DurationInput | undefined;
  /** Told of every decision, for logs. */
  readonly onEvent?: ((event: ClientEvent) => void) | undefined;
  /** Where spans go; nowhere unless given. */
  readonly tracer?: Tracer | undefined;
  /** How the process is ended when a term is overrun or lost; for tests. */
  readonly endProcess?: EndProcess | undefined;
}

const defaultCallTimeoutMs = 5_000;

/** The client behind {@link Tenure}, on a session that it owns. */
export class Client implements Tenure {
  readonly leases: Leases;
  readonly metrics = new ClientMetrics();
  readonly session: Session;
  readonly identity: OwnIdentity | undefined;
  readonly #context: ClientContext;
  readonly #closing = new AbortController();
  readonly #work = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(session: Session, options: ClientOptions = {}) {
    this.session = session;
    const { onEvent } = options;
    // Every claim, campaign and watch listens for the close: there may be thousands.
    setMaxListeners(0, this.#closing.signal);
    this.#context = {
      session,
      policy: { ...defaultTimingPolicy, ...options.policy },
      timing: options.timing ?? {},
      callTimeoutMs: toMs(options.callTimeout ?? defaultCallTimeoutMs, "callTimeout"),
      holder: options.identity ?? makeHolderId(session.random),
      metrics: this.metrics,
      tracer: options.tracer,
      endProcess: options.endProcess ?? endThisProcess,
      terms: new RunningTerms(session.clock),
      closing: this.#closing.signal,
      emit: onEvent && ((event) => callSafely(onEvent, event)),
      leaseName: (input) => leaseNameOf(input, options.namespace),
      identityId: () => this.identity?.id ?? "",
    };
    const { register } = options;
    this.identity = register && new OwnIdentity(session, register, this.#context.leaseName);
    this.leases = new Leases(this.#context);
    session.onState((state, error) => {
      if (state === "connected") this.#context.emit?.({ kind: "connected" });
      else if (state === "reconnecting") this.#context.emit?.({ kind: "reconnecting", error });
    });
  }

  get holder(): string {
    return this.#context.holder;
  }

  get principal(): string {
    return this.session.principal;
  }

  get state(): SessionState {
    return this.session.state;
  }

  lead(lease: LeaseInput, work: Work<unknown>): Promise<void>;
  lead<Result>(
    lease: LeaseInput,
    options: LeadOptions & { readonly once: true },
    work: Work<Result>,
  ): Promise<Result | undefined>;
  lead(lease: LeaseInput, options: LeadOptions, work: Work<unknown>): Promise<void>;
  async lead(lease: LeaseInput, second: LeadOptions | Work<unknown>, third?: Work<unknown>): Promise<unknown> {
    const options = typeof second === "function" ? {} : second;
    const work = typeof second === "function" ? second : third;
    if (work === undefined) throw optionError("work", "must be a function that takes the term", "nothing");
    refuseIfClosed(this.#context);
    return await this.#track(lead(this.#context, this.#context.leaseName(lease), options, work));
  }

  async *campaign(lease: LeaseInput, options: CampaignOptions = {}): AsyncGenerator<Term, void, undefined> {
    refuseIfClosed(this.#context);
    const plan = planCampaign(this.#context, this.#context.leaseName(lease), options);
    yield* campaign(this.#context, plan, options.signal);
  }

  controllerManager(options: ControllerManagerOptions): ControllerManager {
    refuseIfClosed(this.#context);
    const track = <Result>(work: Promise<Result>) => this.#track(work);
    return new ControllerManager(this.#context, { track, health: (...about) => this.health(...about) }, options);
  }

  async *observe(lease: LeaseInput, options: ObserveOptions = {}): AsyncGenerator<Observation, void, undefined> {
    refuseIfClosed(this.#context);
    yield* observe(this.#context, this.#context.leaseName(lease), options);
  }

  onNewLeader(lease: LeaseInput, listener: (holder: string) => void): () => void {
    const stop = new AbortController();
    const observations = this.observe(this.#context.leaseName(lease), { signal: stop.signal });
    void tellNewLeaders(observations, (holder) => callSafely(listener, holder)).catch((error: unknown) => {
      this.#context.emit?.({
        kind: "observe-failed",
        lease: this.#context.leaseName(lease),
        error: toTenureError(error),
      });
    });
    return () => stop.abort();
  }

  lock(name: LeaseInput, options: LockOptions = {}): Promise<Lock> {
    return takeLock(this.#context, name, options);
  }

  tryLock(name: LeaseInput, options: Omit<LockOptions, "wait"> = {}): Promise<Lock | undefined> {
    return tryLock(this.#context, name, options);
  }

  lockAll(names: readonly LeaseInput[], options: LockOptions = {}): Promise<LockSet> {
    return takeLocks(this.#context, names, options);
  }

  termOf(lease: LeaseInput | LeaseName): RunningTerm | undefined {
    return this.#context.terms.of(this.#context.leaseName(lease));
  }

  health(leases: LeaseInput | readonly LeaseInput[], options: HealthOptions = {}): HealthHandler {
    const list: readonly LeaseInput[] = Array.isArray(leases) ? leases : [leases as LeaseInput];
    return leaderHealth(
      this,
      list.map((lease) => this.#context.leaseName(lease)),
      options,
    );
  }

  instances(selector: InstanceSelector = {}): Instances {
    return new Instances(this.session, selector, this.#closing.signal);
  }

  onState(listener: (state: SessionState, why?: TenureError) => void): () => void {
    return this.session.onState(listener);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const why = new TenureError({ code: "CANCELLED", reason: "SESSION_CLOSED", message: "the client was closed" });
    this.#closing.abort(why);
    const finished = Promise.all([this.#context.terms.stop(why), Promise.allSettled(this.#work)]);
    await this.#within(this.#longestEndMs(), finished);
    await this.identity?.[Symbol.asyncDispose]();
    await this.session[Symbol.asyncDispose]();
  }

  /** A function that is only signalled may never return: it is waited for as long as a term of it can last. */
  #longestEndMs(): number {
    const { timing, policy } = this.#context;
    const { stopTimeoutMs, usableTermMs } = resolveTiming(timing, policy);
    return stopTimeoutMs + usableTermMs + policy.stopBoundMs;
  }

  async #within(limitMs: number, finished: Promise<unknown>): Promise<void> {
    const done = new AbortController();
    const limit = this.session.clock.sleep(limitMs, done.signal).catch(() => undefined);
    await Promise.race([finished, limit]);
    done.abort();
  }

  async #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#work.add(work);
    try {
      return await work;
    } finally {
      this.#work.delete(work);
    }
  }
}
