import { partitionRoute } from "@tenure/bus";
import { Backoff, type Clock, Fault, type Random, type Timer, toFault } from "@tenure/kernel";
import type { OwnerChanges } from "../replica/owner-changes.ts";

/** A call as its handler knows it. */
export interface CallScope {
  readonly signal: AbortSignal;
  remainingMs(): number;
  readonly principal: string;
}

/** How a call reaches the owner of its partition. */
export interface OwnerCall<Answer> {
  readonly partition: number;
  /** Whether sending it twice does no harm: it reads, renews, or carries an attempt. */
  readonly isRepeatable: boolean;
  /** Answers here, as the owner. */
  local(signal: AbortSignal): Promise<Answer>;
  /** Sends it to the owner on its route. */
  remote(route: string, options: { readonly deadlineMs: number; readonly signal: AbortSignal }): Promise<Answer>;
}

/** Who owns what, as this replica has read it in the log. */
export interface OwnerSight {
  at(partition: number): {
    readonly state: { readonly epoch: bigint };
    /** The epoch that this replica serves itself; undefined when it does not. */
    readonly ownEpoch: bigint | undefined;
  };
}

/** What is needed to find owners. */
export interface OwnerCallsOptions {
  readonly replica: OwnerSight;
  readonly changes: OwnerChanges;
  readonly clock: Clock;
  readonly random: Random;
}

const movedReasons: ReadonlySet<string> = new Set(["NO_RESPONDER", "OWNER_CHANGED", "SERVER_STOPPING", "NO_OWNER"]);

/** A replaced owner may still have answered; its answer is waited for this long after the log named another. */
const lateAnswerMs = 100;
const retryBackoff = { firstMs: 10, limitMs: 200 };

class Replaced extends Error {}

/**
 * Brings calls to the owner of their partition, here or one hop away, and across a change of owner: a call that surely
 * was not applied is sent again, as is one whose repetition does no harm, until its deadline. The owner is known from
 * the log.
 */
export class OwnerCalls {
  readonly #options: OwnerCallsOptions;

  constructor(options: OwnerCallsOptions) {
    this.#options = options;
  }

  async call<Answer>(call: OwnerCall<Answer>, scope: CallScope): Promise<Answer> {
    const backoff = new Backoff(retryBackoff, this.#options.random);
    // Whether an earlier sending may have been applied: then no refusal of a later one says that nothing was (rule 4).
    let isInDoubt = false;
    for (;;) {
      const epoch = this.#options.replica.at(call.partition).state.epoch;
      try {
        return await this.#try(call, epoch, scope);
      } catch (thrown) {
        const fault = thrown instanceof Replaced ? givenUp(thrown) : toFault(thrown);
        const refusal = isInDoubt ? doubtful(fault) : fault;
        if (!isWorthAnotherTry(thrown, call.isRepeatable) || scope.signal.aborted) throw refusal;
        const pauseMs = backoff.next();
        if (scope.remainingMs() <= pauseMs) throw refusal;
        isInDoubt ||= fault.details.applied !== "NO";
        await this.#untilMoved(call.partition, epoch, pauseMs, scope.signal);
        // A new owner is tried eagerly: the log names it a moment before it serves.
        if (this.#options.replica.at(call.partition).state.epoch !== epoch) backoff.reset();
      }
    }
  }

  async #try<Answer>(call: OwnerCall<Answer>, epoch: bigint, scope: CallScope): Promise<Answer> {
    if (this.#options.replica.at(call.partition).ownEpoch !== undefined) return await call.local(scope.signal);
    if (epoch === 0n) throw noOwner(call.partition);
    const attempt = new AbortController();
    const onAbort = () => attempt.abort(scope.signal.reason);
    scope.signal.addEventListener("abort", onAbort, { once: true });
    const unfollow = call.isRepeatable ? this.#abortWhenReplaced(call.partition, epoch, attempt) : () => {};
    try {
      const route = partitionRoute(call.partition, epoch);
      return await call.remote(route, { deadlineMs: scope.remainingMs(), signal: attempt.signal });
    } catch (thrown) {
      throw attempt.signal.reason instanceof Replaced ? attempt.signal.reason : thrown;
    } finally {
      unfollow();
      scope.signal.removeEventListener("abort", onAbort);
    }
  }

  /** Gives a call up a while after the log has named another owner than the one that it was sent to. */
  #abortWhenReplaced(partition: number, epoch: bigint, attempt: AbortController): () => void {
    const { changes, clock, replica } = this.#options;
    let timer: Timer | undefined;
    const unfollow = changes.follow(partition, () => {
      if (timer !== undefined || replica.at(partition).state.epoch === epoch) return;
      const replaced = new Replaced(`partition ${partition} has another owner`);
      timer = clock.schedule(lateAnswerMs, () => attempt.abort(replaced));
    });
    return () => {
      unfollow();
      timer?.cancel();
    };
  }

  /** Resolves at the next change of the ownership, after the pause, or when the call is given up. */
  async #untilMoved(partition: number, epoch: bigint, pauseMs: number, signal: AbortSignal): Promise<void> {
    const { changes, clock, replica } = this.#options;
    if (replica.at(partition).state.epoch !== epoch) return;
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const timer = clock.schedule(pauseMs, end);
    const unfollow = changes.follow(partition, end);
    signal.addEventListener("abort", end, { once: true });
    await ended;
    timer.cancel();
    unfollow();
    signal.removeEventListener("abort", end);
  }
}

function isWorthAnotherTry(thrown: unknown, isRepeatable: boolean): boolean {
  if (thrown instanceof Replaced) return true;
  if (!(thrown instanceof Fault) || thrown.code !== "UNAVAILABLE") return false;
  if (isRepeatable) return thrown.reason !== "PARTITION_HALTED" && thrown.reason !== "RECOVERING";
  return thrown.details.applied === "NO" && movedReasons.has(thrown.reason);
}

/** The same refusal, without its certainty. */
function doubtful(fault: Fault): Fault {
  const { cause, code, details, message, reason } = fault;
  if (details.applied !== "NO") return fault;
  return new Fault({ code, reason, message, details: { ...details, applied: "UNKNOWN" }, cause });
}

function givenUp({ message }: Replaced): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "OWNER_CHANGED",
    message: `${message} and the deadline is near: retry with the same attempt`,
    details: { applied: "UNKNOWN" },
  });
}

function noOwner(partition: number): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "NO_OWNER",
    message: `partition ${partition} has no owner yet`,
    details: { applied: "NO", attributes: { partition: String(partition) } },
  });
}
