import {
  type CandidateKey,
  durationFromMs,
  type Lease,
  LeaseSpec,
  type PendingHold,
  type Strategy,
  StrategyKind,
} from "@tenure/contracts";
import { Backoff } from "@tenure/kernel";
import { isHopeless, type TenureError, toTenureError } from "../errors.ts";
import type { ClientContext } from "../instance/client-context.ts";
import type { LeaseName } from "../term/lease-name.ts";
import type { PlannedCandidacy } from "./coordinated-options.ts";

const retryBackoff = { firstMs: 200, limitMs: 5_000 };

/** Another has the name, or nobody wants to stand any more. */
const final: ReadonlySet<string> = new Set(["ALREADY_EXISTS", "CANCELLED"]);

/**
 * One candidate for one lease: registered, corrected if another version of the process registered the name before,
 * renewed, and withdrawn when it is disposed of. Pings are answered by the session. What was said while the session was
 * broken is read from the records afterwards.
 */
export class Candidacy implements AsyncDisposable {
  readonly key: CandidateKey;
  readonly #context: ClientContext;
  readonly #plan: PlannedCandidacy;
  readonly #lease: LeaseName;
  readonly #unfollow: () => void;
  readonly #over = new AbortController();
  #keeping: Promise<void> = Promise.resolve();
  #withdrawn: Promise<void> | undefined;
  #choice: PendingHold | undefined;
  #mayClaim: boolean;
  #news: { readonly heard: Promise<void>; readonly tell: () => void } | undefined;
  /** Ends the pause between two renewals. */
  #refresh = new AbortController();
  #lastToken = 0n;

  constructor(context: ClientContext, lease: LeaseName, name: string, plan: PlannedCandidacy) {
    this.#context = context;
    this.#plan = plan;
    this.#lease = lease;
    this.key = { lease, name };
    this.#mayClaim = this.isFirstCome;
    const unfollow = context.session.followCandidate(this.key, {
      onPing: () => {},
      onPending: (pending) => this.#hear(pending),
    });
    const unlisten = context.session.onState((state) => {
      if (state === "connected") this.refresh();
    });
    this.#unfollow = () => {
      unfollow();
      unlisten();
    };
  }

  /** Whether it asks that whoever claims first leads, so that there is no choice to wait for. */
  get isFirstCome(): boolean {
    return isFirstCome(this.#plan.spec.strategy);
  }

  /** Whether the lease may be left to its candidates, as it was last read: see {@link isLeftToCandidates}. */
  get mayClaim(): boolean {
    return this.#mayClaim;
  }

  /** Registers; rejects when that can never succeed. Resolves early when stopped. */
  async start(stop: AbortSignal): Promise<void> {
    stop.addEventListener("abort", () => this.#tellNews(), { once: true });
    await this.#createLease(stop);
    await this.#register(stop);
    this.#keeping = this.#keep();
  }

  /** Resolves at the next news: a choice, a lease that may be claimed from now on, or the end of the wait for them. */
  news(): Promise<void> {
    if (this.#news === undefined) {
      let tell = () => {};
      const heard = new Promise<void>((resolve) => {
        tell = resolve;
      });
      this.#news = { heard, tell };
    }
    return this.#news.heard;
  }

  /** The newest choice of this candidate that was not taken before. */
  takeChoice(): PendingHold | undefined {
    const choice = this.#choice;
    this.#choice = undefined;
    return choice;
  }

  /** Makes sure soon that the registration is there, and reads what may have been missed. */
  refresh(): void {
    this.#refresh.abort();
  }

  /** Ends the candidacy; a term that it holds goes on. Never throws: a registration that stays behind expires. */
  withdraw(): Promise<void> {
    this.#withdrawn ??= this.#withdraw();
    return this.#withdrawn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.withdraw();
  }

  async #withdraw(): Promise<void> {
    const { callTimeoutMs, session } = this.#context;
    this.#over.abort();
    this.#refresh.abort();
    this.#unfollow();
    await this.#keeping;
    const options = { timeoutMs: callTimeoutMs };
    await session
      .change(
        "CandidateService.Withdraw",
        (attempt) => ({ attempt, candidate: this.key, expectedRevision: undefined, note: undefined }),
        options,
      )
      .catch(() => undefined);
  }

  #hear(pending: PendingHold): void {
    if (pending.token <= this.#lastToken) return;
    this.#lastToken = pending.token;
    this.#choice = pending;
    this.#tellNews();
  }

  #tellNews(): void {
    this.#news?.tell();
    this.#news = undefined;
  }

  /** The lease with its fallback delay, if nobody has named it before. */
  async #createLease(stop: AbortSignal): Promise<void> {
    const { fallbackDelayMs } = this.#plan;
    if (fallbackDelayMs === undefined) return;
    const spec = LeaseSpec.fromPartial({ fallbackDelay: durationFromMs(fallbackDelayMs) });
    const lease = this.#lease;
    await this.#untilDone(stop, async () => {
      try {
        await this.#context.session.change(
          "LeaseService.Create",
          (attempt) => ({ attempt, lease, spec, writtenHold: undefined, dryRun: false, note: undefined }),
          { signal: stop },
        );
      } catch (error) {
        if (toTenureError(error).code !== "ALREADY_EXISTS") throw error;
      }
    });
  }

  #register(stop: AbortSignal): Promise<void> {
    const { priority, spec } = this.#plan;
    return this.#untilDone(stop, async () => {
      await this.#context.session.change(
        "CandidateService.Register",
        (attempt) => ({ attempt, candidate: this.key, spec, priority }),
        { signal: stop },
      );
      await this.#catchUp();
    });
  }

  /** Tries until it succeeds, fails for good, or is stopped. */
  async #untilDone(stop: AbortSignal, work: () => Promise<void>): Promise<void> {
    const { emit, session } = this.#context;
    const backoff = new Backoff(retryBackoff, session.random);
    while (!stop.aborted) {
      try {
        await work();
        return;
      } catch (thrown) {
        if (stop.aborted) return;
        const error: TenureError = toTenureError(thrown);
        if (isHopeless(error) || final.has(error.code)) throw error;
        const retryInMs = backoff.next();
        emit?.({ kind: "claim-failed", lease: this.#lease, error, retryInMs });
        await session.clock.sleep(retryInMs, stop).catch(() => undefined);
      }
    }
  }

  /** Renews until the candidacy is over. */
  async #keep(): Promise<void> {
    const { session } = this.#context;
    const over = this.#over.signal;
    while (!over.aborted) {
      await session.clock.sleep(this.#plan.renewIntervalMs, this.#refresh.signal).catch(() => undefined);
      this.#refresh = new AbortController();
      if (over.aborted) return;
      try {
        const { renewalRevisions } = await session.call("CandidateService.Ack", this.#answer(0n), { signal: over });
        if (renewalRevisions[0] === 0n) await this.#register(over);
        else await this.#catchUp();
      } catch {
        // The next renewal comes in time, and a reconnect brings one at once.
        await session.clock.sleep(retryBackoff.limitMs, over).catch(() => undefined);
        this.refresh();
      }
    }
  }

  /** What was asked or decided before this session followed the candidate. */
  async #catchUp(): Promise<void> {
    const { session } = this.#context;
    const signal = this.#over.signal;
    const { candidate } = await session.call(
      "CandidateService.Get",
      { candidate: this.key, read: undefined },
      { signal },
    );
    const { ping } = candidate ?? {};
    if (ping !== undefined && ping.number > ping.answeredNumber) {
      await session.call("CandidateService.Ack", this.#answer(ping.number), { signal });
    }
    const lease = await this.#readLease(signal);
    const wasLeft = this.#mayClaim;
    this.#mayClaim = this.isFirstCome || isLeftToCandidates(lease);
    if (this.#mayClaim && !wasLeft) this.#tellNews();
    if (lease?.pending?.candidate === this.key.name) this.#hear(lease.pending);
  }

  async #readLease(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      const request = { lease: this.#lease, read: undefined };
      return (await this.#context.session.call("LeaseService.Get", request, { signal })).lease;
    } catch (error) {
      if (toTenureError(error).code === "NOT_FOUND") return undefined;
      throw error;
    }
  }

  #answer(pingNumber: bigint) {
    return { answers: [{ candidate: this.key, pingNumber }] };
  }
}

/** It has a fallback delay, or whoever claims first leads. */
function isLeftToCandidates(lease: Lease | undefined): boolean {
  return lease?.spec?.fallbackDelay !== undefined || isFirstCome(lease?.strategy?.strategy);
}

function isFirstCome(strategy: Strategy | undefined): boolean {
  return strategy?.kind === StrategyKind.NO_COORDINATION;
}
