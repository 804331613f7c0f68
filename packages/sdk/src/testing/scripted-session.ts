import { type CandidateKey, Grant, type Hold, type HoldMode } from "@tenure/contracts";
import { FakeClock, type Random, seededRandom } from "@tenure/kernel";
import { TenureError } from "../errors.ts";
import type {
  AcceptRequest,
  CallOptions,
  CandidateListener,
  ClaimOptions,
  ClaimRequest,
  Granted,
  Keeping,
  KeepListener,
  KeptHold,
  ReleaseItem,
  ReleaseOptions,
  ReleaseOutcome,
  Session,
  SessionState,
  StreamOptions,
} from "../session/session.ts";

/** A claim that waits for the test to answer it. */
export interface OpenClaim {
  readonly request: ClaimRequest;
  readonly options: ClaimOptions;
  readonly atMs: number;
  /** Grants every lease of the claim, as if proven at this instant. */
  grant(sentAtMs?: number): void;
  fail(error: TenureError): void;
}

/** A hold that is kept; the test is its store. */
export interface KeptByTest {
  readonly hold: KeptHold;
  readonly listener: KeepListener;
  isRenewing: boolean;
  isDisposed: boolean;
  provenAtMs: number;
}

/** A call, change or stream that the session was asked for. */
export interface Asked {
  readonly method: string;
  readonly request: unknown;
  readonly options: CallOptions | StreamOptions | undefined;
}

/** A session in which nothing happens but what the test says, on a clock that moves only when the test says so. */
export class ScriptedSession implements Session {
  readonly clientId = "client";
  readonly clock: FakeClock;
  readonly random: Random;
  readonly principal = "tester";
  readonly renewKey = new Uint8Array([1, 2, 3]);
  state: SessionState = "connected";
  readonly claims: OpenClaim[] = [];
  readonly kept: KeptByTest[] = [];
  readonly releases: {
    readonly items: readonly ReleaseItem[];
    readonly options: ReleaseOptions;
    readonly atMs: number;
  }[] = [];
  readonly asked: Asked[] = [];
  /** How calls and changes are answered. */
  answer: (asked: Asked) => Promise<unknown> = () => Promise.reject(unavailable("no script"));
  /** What streams give. */
  streaming: (asked: Asked) => AsyncIterable<unknown> = () => ({
    [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
  });
  /** How releases are answered. */
  releasing: () => Promise<ReleaseOutcome> = async () => ({ released: [true], revision: 9n });
  /** How accepts are answered. */
  accepting: (request: AcceptRequest) => Promise<Granted> = async ({ candidate, claimant, token }) => {
    const hold = { holdId: token, partition: 3, token, holder: claimant.holder };
    return { grant: Grant.fromPartial({ lease: candidate.lease ?? {}, hold }), sentAtMs: this.clock.now() };
  };
  readonly accepts: AcceptRequest[] = [];
  /** Who follows the pings and choices of a candidate, if anyone does. */
  candidate: CandidateListener | undefined;
  isClosed = false;
  readonly #onState = new Set<(state: SessionState) => void>();
  #tokens = 40n;
  #attempts = 0n;

  constructor(clock = new FakeClock({ startMs: 1_000 }), random = seededRandom(7)) {
    this.clock = clock;
    this.random = random;
  }

  call(method: string, request: unknown, options?: CallOptions): Promise<never> {
    return this.#ask({ method, request, options });
  }

  change(method: string, make: (attempt: never, sendNumber: bigint) => unknown, options?: CallOptions): Promise<never> {
    this.#attempts += 1n;
    const attempt = { clientId: this.clientId, number: this.#attempts, settledBelow: 0n };
    return this.#ask({ method, request: make(attempt as never, this.#attempts), options });
  }

  stream(method: string, request: unknown, options?: StreamOptions): AsyncIterable<never> {
    const asked = { method, request, options };
    this.asked.push(asked);
    return this.streaming(asked) as AsyncIterable<never>;
  }

  claim(request: ClaimRequest, options: ClaimOptions = {}): Promise<readonly Granted[]> {
    return new Promise((resolve, reject) => {
      const done = (): void => options.signal?.removeEventListener("abort", onAbort);
      const onAbort = (): void => reject(cancelled());
      if (options.signal?.aborted) return onAbort();
      options.signal?.addEventListener("abort", onAbort, { once: true });
      this.claims.push({
        request,
        options,
        atMs: this.clock.now(),
        grant: (sentAtMs = this.clock.now()) => {
          done();
          const grants = request.claims.map(({ lease, mode, units }) => this.#grantOf(request, lease, mode, units));
          resolve(grants.map((grant) => ({ grant, sentAtMs })));
        },
        fail: (error) => {
          done();
          reject(error);
        },
      });
    });
  }

  accept(request: AcceptRequest): Promise<Granted> {
    this.accepts.push(request);
    return this.accepting(request);
  }

  keep(hold: KeptHold, listener: KeepListener): Keeping {
    const kept: KeptByTest = { hold, listener, isRenewing: true, isDisposed: false, provenAtMs: hold.provenAtMs };
    this.kept.push(kept);
    return {
      get provenAtMs() {
        return kept.provenAtMs;
      },
      renewNow: () => undefined,
      stopRenewing: () => {
        kept.isRenewing = false;
      },
      [Symbol.dispose]: () => {
        kept.isDisposed = true;
      },
    };
  }

  release(items: readonly ReleaseItem[], options: ReleaseOptions = {}): Promise<ReleaseOutcome> {
    this.releases.push({ items, options, atMs: this.clock.now() });
    return this.releasing();
  }

  followCandidate(_candidate: CandidateKey, listener: CandidateListener): () => void {
    this.candidate = listener;
    return () => {
      this.candidate = undefined;
    };
  }

  onState(listener: (state: SessionState) => void): () => void {
    this.#onState.add(listener);
    return () => void this.#onState.delete(listener);
  }

  /** Tells that the service can be reached again, or not. */
  tell(state: SessionState): void {
    this.state = state;
    for (const listener of this.#onState) listener(state);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true;
  }

  /** The claim that was made last. */
  get lastClaim(): OpenClaim {
    return must(this.claims.at(-1));
  }

  /** The hold that was kept last. */
  get lastKept(): KeptByTest {
    return must(this.kept.at(-1));
  }

  #ask(asked: Asked): Promise<never> {
    this.asked.push(asked);
    return this.answer(asked) as Promise<never>;
  }

  #grantOf(request: ClaimRequest, lease: Grant["lease"], mode: HoldMode, units: number): Grant {
    this.#tokens += 1n;
    const token = this.#tokens;
    const hold: Partial<Hold> = { holdId: token, partition: 3, token, holder: request.claimant.holder, mode, units };
    return Grant.fromPartial({ lease, hold, sendNumber: token, revision: token } as Parameters<
      typeof Grant.fromPartial
    >[0]);
  }
}

/** The store is away. */
export function unavailable(message = "the store is away"): TenureError {
  return new TenureError({ code: "UNAVAILABLE", reason: "UNREACHABLE", message });
}

/** A refusal of the store. */
export function refusal(reason: string, message = `refused with ${reason}`): TenureError {
  return new TenureError({ code: "FAILED_PRECONDITION", reason, message });
}

function cancelled(): TenureError {
  return new TenureError({ code: "CANCELLED", reason: "CANCELLED", message: "the claim was given up" });
}

function must<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("the client has not asked for that yet");
  return value;
}
