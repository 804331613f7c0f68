import { Claimant, durationFromMs, leaseKeyToWire } from "@tenure/contracts";
import { defaultTimingPolicy, leaseKey, type Timing } from "@tenure/core";
import { Backoff, type Clock, Fault, type Random } from "@tenure/kernel";
import type { IdentityStore } from "../store/identity-store.ts";

/** The lease that the collecting replica holds. */
export const collectorLease = leaseKey("tenure-system", "identity-collector");

/** What a steward stands on. */
export interface StewardOptions {
  readonly store: Pick<IdentityStore, "acquire" | "release" | "renew">;
  readonly clock: Clock;
  readonly random: Random;
  readonly instance: string;
  readonly principal: string;
  readonly leaseDurationMs: number;
  /** Told when this replica becomes the collector and when it ceases to be. */
  onHeld(token: bigint): void;
  onLost(): void;
}

/** H, R and T for an L, with room to spare in every inequality of the protocol. */
export function stewardTiming(leaseDurationMs: number): Timing {
  const { rateError, stopBoundMs } = defaultTimingPolicy;
  const usableTermMs = Math.floor((leaseDurationMs / (1 + rateError) - stopBoundMs) * (1 - rateError));
  const sixthMs = Math.max(1, Math.floor(usableTermMs / 6));
  return {
    leaseDurationMs,
    usableTermMs,
    renewIntervalMs: Math.min(2_000, sixthMs),
    requestTimeoutMs: Math.min(2_000, sixthMs),
  };
}

/**
 * Keeps one lease for as long as it can: takes it when it is free, renews it, and tells when it has it and when not.
 * Its own deadline decides, counted from the send of the last renewal that was committed (rule 11).
 */
export class Stewardship implements AsyncDisposable {
  readonly #options: StewardOptions;
  readonly #timing: Timing;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #token = 0n;
  #deadlineMs = Number.NEGATIVE_INFINITY;
  #isTold = false;
  #sends = 0n;

  constructor(options: StewardOptions) {
    this.#options = options;
    this.#timing = stewardTiming(options.leaseDurationMs);
    this.#running = this.#run();
  }

  /** Whether this replica may collect at this very moment. */
  get isHeld(): boolean {
    return this.#token > 0n && this.#options.clock.now() < this.#deadlineMs;
  }

  /** Token of the present term; 0 while there is none. */
  get token(): bigint {
    return this.isHeld ? this.#token : 0n;
  }

  /** Gives the lease back, if it is held. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    if (this.#token === 0n) return;
    const items = [{ lease: leaseKeyToWire(collectorLease), token: this.#token }];
    this.#lose();
    await this.#options.store.release({ items }, this.#asking()).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#options;
    const backoff = new Backoff({ firstMs: this.#timing.renewIntervalMs, limitMs: 5_000 }, random);
    while (!this.#stop.signal.aborted) {
      const wasHeld = this.isHeld;
      const isHeld = wasHeld ? await this.#renew() : await this.#acquire();
      if (isHeld) backoff.reset();
      const pauseMs = isHeld || this.isHeld ? this.#timing.renewIntervalMs : backoff.next();
      await clock.sleep(pauseMs, this.#stop.signal).catch(() => undefined);
      if (!this.isHeld && this.#isTold) this.#lose();
    }
  }

  async #acquire(): Promise<boolean> {
    const { clock, instance, store } = this.#options;
    const timing = this.#timing;
    const sentAtMs = clock.now();
    const claimant = Claimant.fromPartial({
      holder: instance,
      timing: {
        leaseDuration: durationFromMs(timing.leaseDurationMs),
        usableTerm: durationFromMs(timing.usableTermMs),
        renewInterval: durationFromMs(timing.renewIntervalMs),
        requestTimeout: durationFromMs(timing.requestTimeoutMs),
      },
    });
    try {
      const claims = [{ lease: leaseKeyToWire(collectorLease) }];
      const { grants } = await store.acquire({ claims, claimant }, this.#asking());
      this.#token = grants[0]?.hold?.token ?? 0n;
      this.#deadlineMs = sentAtMs + timing.usableTermMs;
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      return false;
    }
    if (this.isHeld) {
      this.#isTold = true;
      this.#options.onHeld(this.#token);
    }
    return this.isHeld;
  }

  async #renew(): Promise<boolean> {
    const { clock, store } = this.#options;
    const sentAtMs = clock.now();
    this.#sends += 1n;
    const renewal = { lease: leaseKeyToWire(collectorLease), token: this.#token, sendNumber: this.#sends };
    try {
      const { results } = await store.renew({ renewals: [renewal] }, this.#asking());
      const failure = results[0]?.failure;
      if (failure === undefined && results[0]?.sendNumber === this.#sends) {
        this.#deadlineMs = sentAtMs + this.#timing.usableTermMs;
        return true;
      }
      // UNAVAILABLE (14) decides nothing; anything else is final.
      if (failure !== undefined && failure.code !== 14) this.#lose();
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
    }
    return false;
  }

  #asking() {
    return { principal: this.#options.principal, deadlineMs: this.#timing.requestTimeoutMs };
  }

  #lose(): void {
    this.#token = 0n;
    this.#deadlineMs = Number.NEGATIVE_INFINITY;
    if (!this.#isTold) return;
    this.#isTold = false;
    this.#options.onLost();
  }
}
