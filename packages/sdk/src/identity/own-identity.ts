import { createHash } from "node:crypto";
import {
  durationToMs,
  type Identity,
  type IdentityCollision,
  IdentityNaming,
  type IdentityProfile,
  IdentityServiceDeregisterRequest,
  IdentityServiceRegisterRequest,
} from "@tenure/contracts";
import { defaultIdentityNamespace, freshDigits, freshIdentityId, stableIdentityId } from "@tenure/core";
import { Backoff, randomBase58 } from "@tenure/kernel";
import { isHopeless, TenureError, toTenureError } from "../errors.ts";
import type { Keeping, Session } from "../session/session.ts";
import type { LeaseInput, LeaseName } from "../term/lease-name.ts";
import { callSafely } from "../term/typed-listeners.ts";
import { type IdentityOptions, profileOf } from "./identity-options.ts";

/** What becomes of a registration. */
export type IdentityNews =
  | { readonly kind: "registered"; readonly id: string; readonly token: bigint }
  /** The record is gone or another's: the process registers again at once. */
  | { readonly kind: "lost"; readonly id: string; readonly error: TenureError }
  /** Another process claims the same stable id. */
  | { readonly kind: "collision"; readonly id: string; readonly collision: IdentityCollision }
  /** A try to register failed; the next follows. */
  | { readonly kind: "retrying"; readonly id: string; readonly error: TenureError; readonly retryInMs: number }
  /** The service will never take this registration as it is. */
  | { readonly kind: "refused"; readonly id: string; readonly error: TenureError };

/** Tries that meet a failure follow each other like this (statement 101). */
const retry = { firstMs: 200, limitMs: 7_000 };
/** A registration that lasted for so long was sound: if it is lost, the next follows at once. */
const steadyMs = 60_000;
const registerTimeoutMs = 10_000;
const deregisterTimeoutMs = 5_000;
/** A beat that takes longer has failed; the next follows in any case. */
const longestBeatMs = 5_000;
/** Beats come up to this much earlier than asked for, each process by its own share, so that a fleet is never in step. */
const jitter = 0.1;
/** Nobody acts by the strength of an identity's term, so it has no deadline that a process would have to heed. */
const noDeadlineMs = Number.MAX_SAFE_INTEGER;

/**
 * This process's own identity: registered for as long as the client lives. It beats through reconnects and restarts of
 * the services, registers again when its record was collected or taken, and leaves when the client is closed. A failure
 * of the service never fails the process: it goes on trying.
 */
export class OwnIdentity implements AsyncDisposable {
  readonly #session: Session;
  readonly #options: IdentityOptions;
  readonly #profile: IdentityProfile;
  readonly #instanceUid: string;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #onRegistered = new Set<(failure: TenureError | undefined) => void>();
  #id: string;
  #identity: Identity | undefined;
  #keeping: Keeping | undefined;
  #refusal: TenureError | undefined;
  #onLost: (error: TenureError | undefined) => void = () => {};

  constructor(session: Session, options: IdentityOptions, leaseName: (input: LeaseInput) => LeaseName) {
    this.#session = session;
    this.#options = options;
    this.#profile = profileOf(options, leaseName);
    this.#instanceUid = randomBase58(session.random, 22);
    this.#id = this.#makeId();
    this.#running = this.#run();
  }

  /** The id: also the name of its lease. A fresh one changes only in the unlikely case that another has it. */
  get id(): string {
    return this.#id;
  }

  /** The record as it was last registered; undefined before the first registration and while it is lost. */
  get record(): Identity | undefined {
    return this.#identity;
  }

  /** Resolves when the process is registered; rejects when the service will never take it, or the client closes. */
  async registered(): Promise<Identity> {
    for (;;) {
      if (this.#identity !== undefined) return this.#identity;
      if (this.#refusal !== undefined) throw this.#refusal;
      if (this.#stop.signal.aborted) throw closed();
      const failure = await new Promise<TenureError | undefined>((resolve) => {
        const tell = (error: TenureError | undefined) => {
          this.#onRegistered.delete(tell);
          resolve(error);
        };
        this.#onRegistered.add(tell);
      });
      if (failure !== undefined) throw failure;
    }
  }

  /** Leaves: the record is removed, and then what depends on it. One that does not get through is left to collection. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    this.#onLost(undefined);
    await this.#running;
    const identity = this.#identity;
    this.#forget();
    this.#tellRegistered(closed());
    if (identity === undefined) return;
    const { id, token } = identity;
    const { renewKey } = this.#session;
    await this.#session
      .change(
        "IdentityService.Deregister",
        (attempt) => IdentityServiceDeregisterRequest.fromPartial({ attempt, id, token, renewKey }),
        { timeoutMs: deregisterTimeoutMs },
      )
      .catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#session;
    const backoff = new Backoff(retry, random);
    while (!this.#stop.signal.aborted) {
      try {
        const beganAtMs = clock.now();
        const lost = await this.#live();
        if (lost === undefined) return;
        this.#tell({ kind: "lost", id: this.#id, error: lost });
        // Two processes that claim one id would take it from each other as fast as the store grants.
        if (clock.now() - beganAtMs >= steadyMs) backoff.reset();
        else await clock.sleep(backoff.next(), this.#stop.signal).catch(() => undefined);
      } catch (thrown) {
        const error = toTenureError(thrown);
        if (this.#stop.signal.aborted) return;
        if (isHopeless(error) || error.code === "UNIMPLEMENTED") {
          this.#refuse(error);
          return;
        }
        const retryInMs = backoff.next();
        this.#tell({ kind: "retrying", id: this.#id, error, retryInMs });
        this.#renameIfTaken(error);
        await clock.sleep(retryInMs, this.#stop.signal).catch(() => undefined);
      }
    }
  }

  /** Registers and beats until the record is lost; gives why, or undefined when the client closes. */
  async #live(): Promise<TenureError | undefined> {
    const lost = new Promise<TenureError | undefined>((resolve) => {
      this.#onLost = resolve;
    });
    const sentAtMs = this.#session.clock.now();
    const identity = await this.#register();
    if (this.#stop.signal.aborted) {
      this.#identity = identity;
      return undefined;
    }
    this.#keep(identity, sentAtMs);
    const { collision, id, token } = identity;
    this.#tell({ kind: "registered", id, token });
    if (collision !== undefined) this.#tell({ kind: "collision", id, collision });
    this.#tellRegistered(undefined);
    const why = await lost;
    if (why !== undefined) this.#forget();
    return why;
  }

  async #register(): Promise<Identity> {
    const renewKeyHash = createHash("sha256").update(this.#session.renewKey).digest();
    const { identity } = await this.#session.change(
      "IdentityService.Register",
      (attempt) =>
        IdentityServiceRegisterRequest.fromPartial({
          attempt,
          id: this.#id,
          profile: this.#profile,
          renewKeyHash,
          instanceUid: this.#instanceUid,
        }),
      { timeoutMs: registerTimeoutMs },
    );
    if (identity !== undefined) return identity;
    throw new TenureError({ code: "INTERNAL", reason: "MALFORMED_MESSAGE", message: "the service named no identity" });
  }

  #keep(identity: Identity, sentAtMs: number): void {
    const { holdId, id, partition, profile, token } = identity;
    const beatMs = profile?.beatInterval === undefined ? 10_000 : durationToMs(profile.beatInterval);
    const lost = (error: TenureError) => {
      if (this.#identity?.token === token) this.#onLost(error);
    };
    this.#identity = identity;
    this.#keeping = this.#session.keep(
      {
        lease: { namespace: this.#options.namespace ?? defaultIdentityNamespace, name: id },
        holdId,
        partition,
        token,
        renewIntervalMs: Math.max(1, Math.round(beatMs * (1 - jitter * this.#session.random.next()))),
        requestTimeoutMs: Math.min(beatMs, longestBeatMs),
        provenAtMs: sentAtMs,
        usableTermMs: noDeadlineMs,
      },
      {
        onRenewed: () => undefined,
        onMissed: () => undefined,
        onEndOfTerm: () => undefined,
        onRefused: lost,
        onEnded: (_, note) => lost(ended(id, note)),
      },
    );
  }

  #forget(): void {
    this.#keeping?.[Symbol.dispose]();
    this.#keeping = undefined;
    this.#identity = undefined;
  }

  /** A fresh id that another process has is not claimed: this one takes another. */
  #renameIfTaken({ reason }: TenureError): void {
    const isFresh = this.#profile.naming !== IdentityNaming.STABLE;
    if (reason === "IDENTITY_COLLISION" && isFresh) this.#id = this.#makeId();
  }

  #makeId(): string {
    const { component, host, naming, processId } = this.#profile;
    if (naming !== IdentityNaming.STABLE) {
      return freshIdentityId(
        host,
        processId,
        freshDigits(() => this.#session.random.next()),
      );
    }
    return stableIdentityId(host, component, (bytes) => new Uint8Array(createHash("sha256").update(bytes).digest()));
  }

  #refuse(error: TenureError): void {
    this.#refusal = error;
    this.#tell({ kind: "refused", id: this.#id, error });
    this.#tellRegistered(error);
  }

  #tell(news: IdentityNews): void {
    if (this.#options.onChange !== undefined) callSafely(this.#options.onChange, news);
  }

  #tellRegistered(failure: TenureError | undefined): void {
    for (const listener of [...this.#onRegistered]) listener(failure);
  }
}

function ended(id: string, note: string): TenureError {
  const why = note === "" ? "" : `: ${note}`;
  return new TenureError({
    code: "NOT_FOUND",
    reason: "IDENTITY_NOT_FOUND",
    message: `the term of identity ${id} has ended${why}`,
  });
}

function closed(): TenureError {
  return new TenureError({ code: "CANCELLED", reason: "SESSION_CLOSED", message: "the client was closed" });
}
