import {
  encodeMessage,
  type Grant,
  LeaseServiceAcceptRequest,
  LeaseServiceAcceptResponse,
  LeaseServiceAcquireRequest,
  LeaseServiceAcquireResponse,
  LeaseServiceReleaseRequest,
  LeaseServiceReleaseResponse,
  TermEndReason,
} from "@tenure/contracts";
import type { TenureError } from "../errors.ts";
import type { OpenAttempt } from "./attempts.ts";
import { ChangePlan } from "./change-plan.ts";
import type { ClaimPort } from "./claiming.ts";
import type { EncodedClaimants } from "./encoded-claimants.ts";
import type { OpenWait } from "./open-wait.ts";
import { isWorthAnotherSend } from "./retry.ts";
import type {
  AcceptRequest,
  CallOptions,
  ClaimRequest,
  Granted,
  ReleaseItem,
  ReleaseOptions,
  ReleaseOutcome,
} from "./session.ts";

/** How long the server may keep one send of a wait; then it is sent again, with its age. */
const longestServerWaitMs = 3_600_000;

type OnDoubt = (request: ClaimRequest, open: OpenAttempt) => void;

/** How an acquire goes about it. */
export interface AcquireHow {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly wait?: OpenWait | undefined;
  /** Whoever learns what became of a claim that ended in doubt. When absent the attempt goes on after this call. */
  readonly onDoubt?: OnDoubt | undefined;
  /** Claims nothing any more: asks what became of the attempt. */
  readonly isGivenUp?: boolean | undefined;
}

/** One claim, however often it is sent. */
export class AcquirePlan extends ChangePlan<readonly Granted[]> {
  readonly serverTimeoutMs: number | undefined;
  readonly #port: ClaimPort;
  readonly #request: ClaimRequest;
  readonly #claimants: EncodedClaimants;
  readonly #wait: OpenWait | undefined;
  readonly #onDoubt: OnDoubt | undefined;
  readonly #isGivenUp: boolean;

  constructor(port: ClaimPort, request: ClaimRequest, claimants: EncodedClaimants, open: OpenAttempt, how: AcquireHow) {
    super("LeaseService.Acquire", open, how, port.callTimeoutMs);
    this.#port = port;
    this.#request = request;
    this.#claimants = claimants;
    this.#wait = how.wait;
    this.#onDoubt = how.onDoubt;
    this.#isGivenUp = how.isGivenUp ?? false;
    this.serverTimeoutMs = how.wait === undefined ? undefined : Math.min(how.timeoutMs, longestServerWaitMs);
  }

  encode(sendNumber: bigint): Uint8Array {
    const { claims, claimant, fallbackCandidate = "" } = this.#request;
    const message = {
      attempt: this.open.attempt,
      claims,
      claimant: undefined,
      wait: this.#wait?.message(),
      sendNumber,
      fallbackCandidate,
      givenUp: this.#isGivenUp,
    };
    return encodeMessage(LeaseServiceAcquireRequest, message, this.#claimants.encoded(claimant));
  }

  decode(bytes: Uint8Array): readonly Granted[] {
    const { grants } = this.#port.noted(LeaseServiceAcquireResponse.decode(bytes));
    return grants.map((grant) => grantedOf(this.#port, grant));
  }

  override isWorthAnotherSend(error: TenureError): boolean {
    return isWorthAnotherSend(error) || (this.#wait?.isCutShort(error) ?? false);
  }

  override onOver(isInDoubt: boolean): void {
    if (this.#onDoubt === undefined) return;
    if (isInDoubt) this.#onDoubt(this.#request, this.open);
    else this.open.settle();
  }
}

/** The acceptance of an election. */
export class AcceptPlan extends ChangePlan<Granted> {
  readonly #port: ClaimPort;
  readonly #request: AcceptRequest & { readonly renewKeyHash: Uint8Array };
  readonly #onDoubt: () => void;

  constructor(
    port: ClaimPort,
    request: AcceptRequest & { readonly renewKeyHash: Uint8Array },
    open: OpenAttempt,
    options: CallOptions,
    onDoubt: () => void,
  ) {
    super("LeaseService.Accept", open, options, port.callTimeoutMs);
    this.#port = port;
    this.#request = request;
    this.#onDoubt = onDoubt;
  }

  encode(sendNumber: bigint): Uint8Array {
    const { candidate, claimant, renewKeyHash, token } = this.#request;
    return encodeMessage(LeaseServiceAcceptRequest, {
      attempt: this.open.attempt,
      candidate,
      token,
      claimant: { ...claimant, renewKeyHash },
      sendNumber,
    });
  }

  decode(bytes: Uint8Array): Granted {
    const { grant } = this.#port.noted(LeaseServiceAcceptResponse.decode(bytes));
    if (grant === undefined) throw new Error("LeaseService.Accept was answered without a grant");
    return grantedOf(this.#port, grant);
  }

  override onOver(isInDoubt: boolean): void {
    super.onOver(isInDoubt);
    if (isInDoubt) this.#onDoubt();
  }
}

/** The end of terms. It has no signal: a release that its caller's abort stopped would be lost. */
export class ReleasePlan extends ChangePlan<ReleaseOutcome> {
  readonly #port: ClaimPort;
  readonly #items: readonly ReleaseItem[];
  readonly #endReason: TermEndReason;
  readonly #note: string | undefined;

  constructor(port: ClaimPort, items: readonly ReleaseItem[], open: OpenAttempt, options: ReleaseOptions) {
    const { endReason = TermEndReason.RELEASED, note, timeoutMs } = options;
    super("LeaseService.Release", open, { timeoutMs }, port.callTimeoutMs);
    this.#port = port;
    this.#items = items;
    this.#endReason = endReason;
    this.#note = note;
  }

  encode(): Uint8Array {
    return encodeMessage(LeaseServiceReleaseRequest, {
      attempt: this.open.attempt,
      // Only what the message has: an item may be a whole term.
      items: this.#items.map(({ lease, token }) => ({ lease, token })),
      renewKey: this.#port.renewKey,
      endReason: this.#endReason,
      note: this.#note === undefined ? undefined : { reason: this.#note },
    });
  }

  decode(bytes: Uint8Array): ReleaseOutcome {
    return this.#port.noted(LeaseServiceReleaseResponse.decode(bytes));
  }
}

function grantedOf(port: ClaimPort, grant: Grant): Granted {
  return { grant, sentAtMs: port.instantOf(Number(grant.sendNumber)) };
}
