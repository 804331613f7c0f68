import { createHash } from "node:crypto";
import {
  durationFromMs,
  encodeMessage,
  type Grant,
  LeaseServiceAcceptRequest,
  LeaseServiceAcceptResponse,
  LeaseServiceAcquireRequest,
  LeaseServiceAcquireResponse,
  LeaseServiceReleaseRequest,
  LeaseServiceReleaseResponse,
  TermEndReason,
  type Wait,
} from "@tenure/contracts";
import type { Clock } from "@tenure/kernel";
import { type TenureError, toTenureError } from "../errors.ts";
import type { AttemptLedger, OpenAttempt } from "./attempts.ts";
import { isWorthAnotherSend } from "./retry.ts";
import type {
  AcceptRequest,
  CallOptions,
  ClaimOptions,
  ClaimRequest,
  Granted,
  ReleaseItem,
  ReleaseOptions,
  ReleaseOutcome,
} from "./session.ts";
import type { UnaryPlan } from "./unary-call.ts";

/** What claims need of their session. */
export interface ClaimPort {
  readonly clock: Clock;
  readonly attempts: AttemptLedger;
  readonly renewKey: Uint8Array;
  /** How long a call tries when its caller does not say. */
  readonly callTimeoutMs: number;
  /** T. */
  readonly requestTimeoutMs: number;
  unary<Response>(plan: UnaryPlan<Response>): Promise<Response>;
  instantOf(sendNumber: number): number;
  /** Work that goes on after its caller has left; a session that closes waits for it, within bounds. */
  inBackground(work: Promise<void>): void;
}

/** How long the server may keep one send of a wait; then it is sent again, with its age. */
const longestServerWaitMs = 3_600_000;
/** A claim that was given up is asked for this long after its cancellation, which should arrive first. */
const settleDelayMs = 100;
const settleTries = 5;

/** Takes terms and gives them back: one answer per attempt, and no term that nobody knows of. */
export class Claiming {
  readonly #port: ClaimPort;
  readonly #renewKeyHash: Uint8Array;

  constructor(port: ClaimPort) {
    this.#port = port;
    this.#renewKeyHash = createHash("sha256").update(port.renewKey).digest();
  }

  /** Acquires, waiting if asked to. The attempt stays the same from the first send to the last. */
  async claim(request: ClaimRequest, options: ClaimOptions): Promise<readonly Granted[]> {
    const { waitMs = 0 } = options;
    const { callTimeoutMs, requestTimeoutMs } = this.#port;
    const open = this.#port.attempts.open();
    let isDoubtful = false;
    try {
      const grants = await this.#acquire(request, open, {
        signal: options.signal,
        wait: waitMs === 0 ? undefined : this.#waitOf(request, waitMs),
        timeoutMs: waitMs === 0 ? (options.timeoutMs ?? callTimeoutMs) : toMs(waitMs) + requestTimeoutMs,
        onDoubt: () => {
          isDoubtful = true;
        },
      });
      return grants.map((grant) => this.#granted(grant));
    } finally {
      if (isDoubtful) this.#port.inBackground(this.#settleAbandoned(request, open));
      else open.settle();
    }
  }

  async accept(request: AcceptRequest, options: CallOptions): Promise<Granted> {
    const { candidate, claimant, token } = request;
    const open = this.#port.attempts.open();
    try {
      const { grant } = await this.#port.unary({
        ...this.#changePlan("LeaseService.Accept", options),
        encode: (sendNumber) =>
          encodeMessage(LeaseServiceAcceptRequest, {
            attempt: open.attempt,
            candidate,
            token,
            claimant: { ...claimant, renewKeyHash: this.#renewKeyHash },
            sendNumber,
          }),
        decode: (bytes) => LeaseServiceAcceptResponse.decode(bytes),
      });
      if (grant === undefined) throw new Error("LeaseService.Accept was answered without a grant");
      return this.#granted(grant);
    } catch (thrown) {
      throw toTenureError(thrown);
    } finally {
      open.settle();
    }
  }

  /** Ends terms. It has no signal: a release that its caller's abort stopped would be lost. */
  async release(items: readonly ReleaseItem[], options: ReleaseOptions): Promise<ReleaseOutcome> {
    const open = this.#port.attempts.open();
    const { endReason = TermEndReason.RELEASED, note, timeoutMs } = options;
    try {
      const { released, revision } = await this.#port.unary({
        ...this.#changePlan("LeaseService.Release", { timeoutMs }),
        encode: () =>
          encodeMessage(LeaseServiceReleaseRequest, {
            attempt: open.attempt,
            items: items.map(({ lease, token }) => ({ lease, token })),
            renewKey: this.#port.renewKey,
            endReason,
            note: note === undefined ? undefined : { reason: note },
          }),
        decode: (bytes) => LeaseServiceReleaseResponse.decode(bytes),
      });
      return { released, revision };
    } finally {
      open.settle();
    }
  }

  async #acquire(request: ClaimRequest, open: OpenAttempt, how: AcquireHow): Promise<readonly Grant[]> {
    const { claims, claimant, fallbackCandidate = "" } = request;
    const { onDoubt, wait, ...options } = how;
    const { grants } = await this.#port.unary({
      ...this.#changePlan("LeaseService.Acquire", options),
      onDoubt,
      ...(wait !== undefined && { serverTimeoutMs: Math.min(options.timeoutMs, longestServerWaitMs) }),
      encode: (sendNumber) =>
        encodeMessage(LeaseServiceAcquireRequest, {
          attempt: open.attempt,
          claims,
          claimant: { ...claimant, renewKeyHash: this.#renewKeyHash },
          wait: wait?.message(),
          sendNumber,
          fallbackCandidate,
        }),
      decode: (bytes) => LeaseServiceAcquireResponse.decode(bytes),
      isWorthAnotherSend: (error) => isWorthAnotherSend(error) || (wait?.isCutShort(error) ?? false),
    });
    return grants;
  }

  /**
   * Learns what became of a claim whose caller has left without an answer, and gives back what it was granted. The same
   * attempt is asked without a wait, so that the store answers at once: with the recorded outcome if there is one.
   */
  async #settleAbandoned(request: ClaimRequest, open: OpenAttempt): Promise<void> {
    const timeoutMs = this.#port.requestTimeoutMs;
    try {
      for (let tries = 0; tries < settleTries; tries += 1) {
        await this.#port.clock.sleep(settleDelayMs);
        const grants = await this.#acquire(request, open, { timeoutMs }).catch(toTenureError);
        if (!(grants instanceof Error)) {
          const items = grants.flatMap(({ hold, lease }) => (hold && lease ? [{ lease, token: hold.token }] : []));
          if (items.length > 0) await this.release(items, {});
          return;
        }
        if (grants.applied !== "UNKNOWN") return;
      }
    } catch {
      // What cannot be given back runs out by itself after L; nobody acts on it.
    } finally {
      open.settle();
    }
  }

  #changePlan(method: string, { signal, timeoutMs, traceparent }: CallOptions) {
    return {
      method,
      timeoutMs: timeoutMs ?? this.#port.callTimeoutMs,
      signal,
      traceparent,
      isRepeatable: true,
      isChange: true,
      isWorthAnotherSend,
    };
  }

  #waitOf({ supersedesKey }: ClaimRequest, waitMs: number | "forever"): OpenWait {
    return new OpenWait(this.#port.clock, toMs(waitMs), supersedesKey);
  }

  #granted(grant: Grant): Granted {
    return { grant, sentAtMs: this.#port.instantOf(Number(grant.sendNumber)) };
  }
}

interface AcquireHow {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly wait?: OpenWait | undefined;
  readonly onDoubt?: (() => void) | undefined;
}

/** A claim's wait: how long it has stood in the queue, and how much longer it may. */
class OpenWait {
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #waitMs: number;
  readonly #supersedesKey: string | undefined;

  constructor(clock: Clock, waitMs: number, supersedesKey: string | undefined) {
    this.#clock = clock;
    this.#startedAtMs = clock.now();
    this.#waitMs = waitMs;
    this.#supersedesKey = supersedesKey;
  }

  /** As it is sent now. */
  message(): Wait {
    const ageMs = this.#clock.now() - this.#startedAtMs;
    // Durations of the API are in whole milliseconds.
    const leftMs = Math.max(1, Math.ceil(this.#waitMs - ageMs));
    return {
      timeout: Number.isFinite(leftMs) ? durationFromMs(leftMs) : undefined,
      age: durationFromMs(Math.floor(ageMs)),
      beatNumber: 0n,
      supersedesKey: this.#supersedesKey,
    };
  }

  /** Whether the service ended the wait although its time is not over: it lost sight of the client, or of the call. */
  isCutShort({ code, reason }: TenureError): boolean {
    const isEnd = reason === "WAIT_ENDED" || code === "DEADLINE_EXCEEDED";
    return isEnd && this.#clock.now() - this.#startedAtMs < this.#waitMs - 1;
  }
}

function toMs(waitMs: number | "forever"): number {
  return waitMs === "forever" ? Number.POSITIVE_INFINITY : waitMs;
}
