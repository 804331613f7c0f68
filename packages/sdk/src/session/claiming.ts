import { createHash } from "node:crypto";
import type { Clock } from "@tenure/kernel";
import { toTenureError } from "../errors.ts";
import type { AttemptLedger, OpenAttempt } from "./attempts.ts";
import { AcceptPlan, type AcquireHow, AcquirePlan, ReleasePlan } from "./claim-plans.ts";
import { EncodedClaimants } from "./encoded-claimants.ts";
import { OpenWait } from "./open-wait.ts";
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
  /** Takes note of the log position that a response shows, and gives it back. */
  noted<Response extends object>(response: Response): Response;
  /** Work that goes on after its caller has left; a session that closes waits for it, within bounds. */
  inBackground(work: Promise<void>): void;
}

/** A claim that was given up is asked for this long after its cancellation, which should arrive first. */
const settleDelayMs = 100;
const settleTries = 5;

/** Takes terms and gives them back: one answer per attempt, and no term that nobody knows of. */
export class Claiming {
  readonly #port: ClaimPort;
  readonly #claimants: EncodedClaimants;

  constructor(port: ClaimPort) {
    this.#port = port;
    this.#claimants = new EncodedClaimants(createHash("sha256").update(port.renewKey).digest());
  }

  /** Acquires, waiting if asked to. The attempt stays the same from the first send to the last. */
  claim(request: ClaimRequest, options: ClaimOptions): Promise<readonly Granted[]> {
    const { waitMs = 0 } = options;
    const { callTimeoutMs, clock, requestTimeoutMs } = this.#port;
    const waitsMs = waitMs === "forever" ? Number.POSITIVE_INFINITY : waitMs;
    return this.#acquire(request, this.#port.attempts.open(), {
      signal: options.signal,
      wait: waitsMs === 0 ? undefined : new OpenWait(clock, waitsMs, request.supersedesKey),
      timeoutMs: waitsMs === 0 ? (options.timeoutMs ?? callTimeoutMs) : waitsMs + requestTimeoutMs,
      onDoubt: this.#onDoubt,
    });
  }

  accept(request: AcceptRequest, options: CallOptions): Promise<Granted> {
    const open = this.#port.attempts.open();
    const { renewKeyHash } = this.#claimants;
    const onDoubt = () => this.#port.inBackground(this.#giveBack(request));
    return this.#port.unary(new AcceptPlan(this.#port, { ...request, renewKeyHash }, open, options, onDoubt));
  }

  /** Ends terms. */
  release(items: readonly ReleaseItem[], options: ReleaseOptions): Promise<ReleaseOutcome> {
    return this.#port.unary(new ReleasePlan(this.#port, items, this.#port.attempts.open(), options));
  }

  #acquire(request: ClaimRequest, open: OpenAttempt, how: AcquireHow): Promise<readonly Granted[]> {
    return this.#port.unary(new AcquirePlan(this.#port, request, this.#claimants, open, how));
  }

  readonly #onDoubt = (request: ClaimRequest, open: OpenAttempt): void => {
    this.#port.inBackground(this.#settleAbandoned(request, open));
  };

  /** Ends the term that an accept of unknown outcome may have begun: its token is known, and nobody acts on it. */
  async #giveBack({ candidate: { lease }, token }: AcceptRequest): Promise<void> {
    await this.#port.clock.sleep(settleDelayMs);
    if (lease === undefined) return;
    // What cannot be given back runs out by itself after L.
    await this.release([{ lease, token }], {}).catch(() => undefined);
  }

  /**
   * Learns what became of a claim whose caller has left without an answer, and gives back what it was granted. The same
   * attempt is asked for without claiming, so that the store answers at once and a lease that has become free meanwhile is
   * left to those who want it. A copy of the claim that is later than that may still be granted; its term runs out.
   */
  async #settleAbandoned(request: ClaimRequest, open: OpenAttempt): Promise<void> {
    const timeoutMs = this.#port.requestTimeoutMs;
    try {
      for (let tries = 0; tries < settleTries; tries += 1) {
        await this.#port.clock.sleep(settleDelayMs);
        const granted = await this.#acquire(request, open, { timeoutMs, isGivenUp: true }).catch(toTenureError);
        if (!(granted instanceof Error)) {
          const items = granted.flatMap(({ grant: { hold, lease } }) =>
            hold && lease ? [{ lease, token: hold.token }] : [],
          );
          if (items.length > 0) await this.release(items, {});
          return;
        }
        if (granted.applied !== "UNKNOWN") return;
      }
    } catch {
      // What cannot be given back runs out by itself after L; nobody acts on it.
    } finally {
      open.settle();
    }
  }
}
