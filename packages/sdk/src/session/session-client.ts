import type { Attempt, CandidateKey } from "@tenure/contracts";
import { type Clock, type Dated, Deadlines, type Random } from "@tenure/kernel";
import { withFloor } from "@tenure/session";
import type { RequestOf, ResponseOf, StreamMethod, UnaryMethod } from "../calls/methods.ts";
import { decodeResponse, encodeRequest, isRead } from "../calls/registry.ts";
import { abortedError, isHopeless, TenureError } from "../errors.ts";
import type { Keeper, Told } from "../renewal/keeper.ts";
import { AttemptLedger } from "./attempts.ts";
import { Claiming } from "./claiming.ts";
import { closed, Exchange, type ExchangeOptions } from "./exchange.ts";
import { MadeChange } from "./made-change.ts";
import { SeenRevision } from "./seen-revision.ts";
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
} from "./session.ts";
import { StreamCall } from "./stream-call.ts";
import { type CallPort, UnaryCall, type UnaryPlan } from "./unary-call.ts";

/** What a session is made of. */
export interface SessionClientOptions extends Omit<ExchangeOptions, "minRevision"> {
  /** How long a call tries when its caller does not say. */
  readonly callTimeoutMs: number;
  /** Makes whoever renews instead of this thread, given the keeper that does so on this one. The session closes it. */
  readonly makeKeeper?: ((inline: Keeper) => Keeper) | undefined;
}

const defaultCredit = 64;

/** One client's conversation with the service over any transport. */
export class SessionClient implements Session {
  readonly clientId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly renewKey: Uint8Array;
  readonly #options: SessionClientOptions;
  readonly #exchange: Exchange;
  readonly #attempts: AttemptLedger;
  readonly #claiming: Claiming;
  readonly #keeper: Keeper;
  readonly #port: CallPort;
  readonly #deadlines: Deadlines<Dated>;
  readonly #seen: SeenRevision;
  readonly #background = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;
  #shared: { readonly method: string; readonly bytes: Uint8Array; readonly response: unknown } | undefined;

  constructor(options: SessionClientOptions) {
    const { callTimeoutMs, clientId, clock, random, renewKey, requestTimeoutMs } = options;
    this.#options = options;
    const seen = new SeenRevision();
    this.#seen = seen;
    this.clientId = clientId;
    this.clock = clock;
    this.random = random;
    this.renewKey = renewKey;
    const exchange = new Exchange({ ...options, minRevision: () => seen.highest });
    this.#exchange = exchange;
    this.#deadlines = new Deadlines(clock);
    this.#port = {
      clock,
      random,
      add: (call) => exchange.add(call),
      drop: (call) => exchange.drop(call),
      deadlines: this.#deadlines,
      onRefusal: (details) => seen.note(details),
    };
    this.#attempts = new AttemptLedger(clientId);
    this.#claiming = new Claiming({
      clock,
      attempts: this.#attempts,
      renewKey,
      callTimeoutMs,
      requestTimeoutMs,
      unary: (plan) => this.#unary(plan),
      instantOf: (sendNumber) => exchange.instantOf(sendNumber),
      noted: (response) => this.#noted(response),
      inBackground: (work) => this.#inBackground(work),
    });
    this.#keeper = options.makeKeeper?.(exchange.keeper) ?? exchange.keeper;
    exchange.onPush((push) => this.#keeper.onPush(push));
  }

  get principal(): string {
    return this.#exchange.principal;
  }

  get state(): SessionState {
    return this.#exchange.state;
  }

  /** Starts to connect; calls may be made at once. */
  start(): void {
    this.#exchange.start();
  }

  /** Resolves at the first greeting; rejects when that has not come within the bound, or never will. */
  connected(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const { address } = this.#options.transport;
    return new Promise<void>((resolve, reject) => {
      const settle = (error?: TenureError) => {
        timer.cancel();
        unfollow();
        signal?.removeEventListener("abort", onAbort);
        if (error === undefined) resolve();
        else reject(error);
      };
      const onAbort = () => settle(signal && abortedError(signal, `connecting to ${address}`));
      const timer = this.clock.schedule(timeoutMs, () =>
        settle(unreachable(address, timeoutMs, this.#exchange.whyNotConnected)),
      );
      const unfollow = this.onState((state, why) => {
        if (state === "connected") settle();
        else if (why !== undefined && (state === "closed" || isFinal(why))) settle(why);
      });
      if (this.state === "connected") settle();
      else if (signal?.aborted) onAbort();
      else signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  call<Method extends UnaryMethod>(
    method: Method,
    request: RequestOf<Method>,
    options: CallOptions = {},
  ): Promise<ResponseOf<Method>> {
    const isReading = isRead(method);
    return this.#unary({
      method,
      timeoutMs: options.timeoutMs ?? this.#options.callTimeoutMs,
      signal: options.signal,
      traceparent: options.traceparent,
      encode: () => withFloor(method, encodeRequest(method, request), this.#seen.highest),
      decode: (bytes) => this.#noted(decodeResponse(method, bytes)),
      isRepeatable: isReading,
      isChange: !isReading,
      isWorthAnotherSend: () => false,
    });
  }

  change<Method extends UnaryMethod>(
    method: Method,
    make: (attempt: Attempt, sendNumber: bigint) => RequestOf<Method>,
    options: CallOptions = {},
  ): Promise<ResponseOf<Method>> {
    const noted = (response: ResponseOf<Method>) => this.#noted(response);
    const parts = { method, make, noted, open: this.#attempts.open() };
    return this.#unary(new MadeChange(parts, options, this.#options.callTimeoutMs));
  }

  stream<Method extends StreamMethod>(
    method: Method,
    request: RequestOf<Method>,
    options: StreamOptions = {},
  ): AsyncIterable<ResponseOf<Method>> {
    const { credit = defaultCredit, signal, traceparent } = options;
    const plan = {
      method,
      encode: () => encodeRequest(method, request),
      decode: (bytes: Uint8Array) => this.#decodeShared(method, bytes),
      credit,
      signal,
      traceparent,
    };
    return { [Symbol.asyncIterator]: () => new StreamCall(plan, this.#exchange).responses() };
  }

  claim(claim: ClaimRequest, options: ClaimOptions = {}): Promise<readonly Granted[]> {
    this.#keeper.warmUp?.();
    return this.#claiming.claim(claim, options);
  }

  accept(request: AcceptRequest, options: CallOptions = {}): Promise<Granted> {
    this.#keeper.warmUp?.();
    return this.#claiming.accept(request, options);
  }

  release(items: readonly ReleaseItem[], options: ReleaseOptions = {}): Promise<ReleaseOutcome> {
    return this.#claiming.release(items, options);
  }

  keep(hold: KeptHold, listener: KeepListener, told: Told = "now"): Keeping {
    if (this.state === "closed") throw closed("keeping a term");
    return this.#keeper.keep(hold, listener, told);
  }

  followCandidate(candidate: CandidateKey, listener: CandidateListener): () => void {
    return this.#exchange.candidates.follow(candidate, listener);
  }

  onState(listener: (state: SessionState, why?: TenureError) => void): () => void {
    return this.#exchange.onState(listener);
  }

  /** Stops renewing, lets claims that were given up be settled within T, and closes. Terms are not released. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#keeper[Symbol.asyncDispose]();
    if (this.#background.size > 0) await this.#untilSettled();
    this.#exchange.close(
      new TenureError({ code: "CANCELLED", reason: "SESSION_CLOSED", message: "the session was closed" }),
    );
    this.#deadlines.stop();
    await this.#options.transport[Symbol.asyncDispose]();
  }

  async #untilSettled(): Promise<void> {
    const settled = new AbortController();
    const all = Promise.allSettled(this.#background).then(() => settled.abort());
    const bound = this.clock.sleep(this.#options.requestTimeoutMs, settled.signal).catch(() => {});
    await Promise.race([all, bound]);
    settled.abort();
  }

  #unary<Response>(plan: UnaryPlan<Response>): Promise<Response> {
    if (this.state === "closed") return Promise.reject(closed(plan.method));
    return new UnaryCall(plan, this.#port).answer;
  }

  /** A response that came for several streams is decoded for the first of them. */
  #decodeShared<Method extends StreamMethod>(method: Method, bytes: Uint8Array): ResponseOf<Method> {
    if (this.#shared?.method !== method || this.#shared.bytes !== bytes) {
      this.#shared = { method, bytes, response: this.#noted(decodeResponse(method, bytes)) };
    }
    // What was decoded for this very method.
    return this.#shared.response as ResponseOf<Method>;
  }

  #noted<Response extends object>(response: Response): Response {
    this.#seen.note(response);
    return response;
  }

  #inBackground(work: Promise<void>): void {
    const tracked = work.finally(() => this.#background.delete(tracked));
    this.#background.add(tracked);
  }
}

function unreachable(address: string, timeoutMs: number, cause: TenureError): TenureError {
  const message = `${address} did not answer within ${timeoutMs} ms: ${cause.message}`;
  return new TenureError({ code: "UNAVAILABLE", reason: "UNREACHABLE", message, cause });
}

/** Whether a first connect that failed so will never succeed. */
function isFinal(error: TenureError): boolean {
  return isHopeless(error) || error.code === "UNIMPLEMENTED" || error.code === "FAILED_PRECONDITION";
}
