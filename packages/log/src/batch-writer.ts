import { Backoff, type Clock, type Random } from "@tenure/kernel";
import type { AppendOutcome } from "./append-channel.ts";
import { hasBatchAt } from "./batch-at.ts";
import type { AppendRefusal } from "./js-errors.ts";
import type { LogAppend, LoggedMessage, LogTransport } from "./log-transport.ts";

/** What became of a batch. Known for certain. */
export type CommitOutcome =
  | {
      readonly kind: "committed";
      readonly sequence: bigint;
      /** When it was first sent, on the writer's clock: reads that came before are covered by it. */
      readonly sentAtMs: number;
    }
  | {
      readonly kind: "lost";
      /** Sequence of a message that stands after `prev` and is not this batch. */
      readonly sequence: bigint;
      /**
       * Whether this batch is in the log all the same. `NO`, unless the message that followed `prev` has been purged
       * before its writer could be seen; then nobody can tell.
       */
      readonly applied: "NO" | "UNKNOWN";
    }
  | {
      /** The log has lost its end: another batch than the one that this batch follows stands at `prev`. */
      readonly kind: "astray";
      readonly sequence: bigint;
      readonly applied: "NO" | "UNKNOWN";
    };

/** A try that did not settle the batch. */
export interface CommitTrouble {
  readonly refusal: AppendRefusal;
  readonly description: string;
  /** How many tries have been made. */
  readonly tries: number;
  /** Whether an earlier or this try may have been applied: the partition decides nothing until that is known. */
  readonly isUnknown: boolean;
}

/** What a writer stands on. */
export interface BatchWriterOptions {
  readonly partition: number;
  readonly clock: Clock;
  readonly random: Random;
  /** How long one append may take before its outcome is unknown. */
  readonly requestTimeoutMs: number;
  /** The id in a batch, which tells whether a message in the log is one's own. */
  readonly batchIdOf: (payload: Uint8Array) => string;
  /** The id of the batch that a batch follows. Without it nothing is looked at before an append. */
  readonly prevBatchIdOf?: (payload: Uint8Array) => string;
  /** Told of every try that settled nothing. */
  readonly onTrouble?: (trouble: CommitTrouble) => void;
  /** Told once per batch, when its outcome becomes unknown. */
  readonly onUnknown?: () => void;
}

const notShown = "the log does not show the message before";
/** Waits between tries: a conflict in flight is over in a moment, an outage in seconds. */
const backoff = { firstMs: 5, limitMs: 250 };

/**
 * Commits batches of one partition, one at a time, and answers only what is certain. An append of unknown outcome is
 * resolved in one of two ways: by a message that stands after `prev`, ours or another's, or by an acknowledged append
 * of the same batch with the same `prev`. That nothing is to be seen proves nothing, so it goes on until the signal.
 */
export class BatchWriter {
  readonly #transport: Pick<LogTransport, "append" | "readAfter">;
  readonly #options: BatchWriterOptions;
  /** The signal that is listened to, and what is to be told of it: one thing is waited for at a time. */
  #signal: AbortSignal | undefined;
  #onAborted: (reason: unknown) => void = () => {};

  constructor(transport: Pick<LogTransport, "append" | "readAfter">, options: BatchWriterOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  /**
   * Rejects only with the signal's reason; then the outcome is as unknown as `onUnknown` has said. In doubt, which it is
   * after a connection was lost and after every try that settled nothing, it appends only to the batch that it follows:
   * a log that has lost its end and grown again has the sequence, and not the batch.
   */
  async commit(payload: Uint8Array, prev: bigint, signal: AbortSignal, inDoubt = false): Promise<CommitOutcome> {
    const { clock, partition, random, requestTimeoutMs: timeoutMs } = this.#options;
    const waits = new Backoff(backoff, random);
    const sentAtMs = clock.now();
    let isUnknown = false;
    let isDoubtful = inDoubt;
    for (let tries = 1; ; tries += 1) {
      signal.throwIfAborted();
      const append = { partition, payload, prev, timeoutMs };
      const outcome = await (isDoubtful ? this.#tryInDoubt(append, signal) : this.#append(append, signal));
      if (outcome.kind === "astray") return { ...outcome, sequence: prev, applied: isUnknown ? "UNKNOWN" : "NO" };
      if (outcome.kind === "acked") return { kind: "committed", sequence: outcome.sequence, sentAtMs };
      if (!isUnknown && isBeaten(outcome, prev)) {
        return { kind: "lost", sequence: outcome.lastSequence ?? prev, applied: "NO" };
      }
      isDoubtful = true;
      if (outcome.refusal === "Ambiguous" && !isUnknown) {
        isUnknown = true;
        this.#options.onUnknown?.();
      }
      this.#options.onTrouble?.({ refusal: outcome.refusal, description: outcome.description, tries, isUnknown });
      const found = await this.#evidence(prev, outcome.refusal, isUnknown, signal);
      if (found !== undefined) return this.#judge(payload, prev, sentAtMs, isUnknown, found);
      await clock.sleep(waits.next(), signal);
    }
  }

  /** Appends once, if the log shows the batch before. */
  async #tryInDoubt(append: LogAppend, signal: AbortSignal): Promise<AppendOutcome | { kind: "astray" }> {
    const isFollowing = await this.#isFollowing(append.payload, append.prev, signal);
    if (isFollowing === false) return { kind: "astray" };
    if (isFollowing === undefined) return { kind: "refused", refusal: "Conflict", description: notShown };
    return this.#append(append, signal);
  }

  #append(append: LogAppend, signal: AbortSignal): Promise<AppendOutcome> {
    return this.#unlessAborted(this.#transport.append(append), signal);
  }

  /** The promise, or a rejection as soon as the signal is aborted; what the promise does later is ignored. */
  #unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#signal !== signal) {
      // One signal ends all commits of an ownership: it gets one listener, not one for each commit.
      this.#signal = signal;
      signal.addEventListener("abort", () => this.#onAborted(signal.reason), { once: true });
    }
    return new Promise((resolve, reject) => {
      this.#onAborted = reject;
      promise.then(resolve, reject);
    });
  }

  /** Whether the log has the batch that this one follows; undefined if it does not say. */
  async #isFollowing(payload: Uint8Array, prev: bigint, signal: AbortSignal): Promise<boolean | undefined> {
    const { batchIdOf, partition, prevBatchIdOf } = this.#options;
    if (prevBatchIdOf === undefined) return true;
    const place = { partition, sequence: prev, batchId: prevBatchIdOf(payload) };
    return await this.#unlessAborted(hasBatchAt(this.#transport, batchIdOf, place), signal);
  }

  /** The message after `prev`, if it is worth asking for and anybody shows it. */
  async #evidence(
    prev: bigint,
    refusal: AppendRefusal,
    isUnknown: boolean,
    signal: AbortSignal,
  ): Promise<LoggedMessage | undefined> {
    if (!isUnknown && refusal !== "Conflict") return undefined;
    const reading = this.#transport.readAfter(this.#options.partition, prev).catch(() => undefined);
    return this.#unlessAborted(reading, signal);
  }

  #judge(
    payload: Uint8Array,
    prev: bigint,
    sentAtMs: number,
    isUnknown: boolean,
    { payload: found, prev: foundPrev, sequence }: LoggedMessage,
  ): CommitOutcome {
    const { batchIdOf } = this.#options;
    if (batchIdOf(found) === batchIdOf(payload)) return { kind: "committed", sequence, sentAtMs };
    // Only the direct successor of `prev` shows that ours was not applied: one further on may follow ours.
    const isSuccessor = foundPrev === prev;
    return { kind: "lost", sequence, applied: isUnknown && !isSuccessor ? "UNKNOWN" : "NO" };
  }
}

/**
 * Whether a refusal proves that another's message stands after `prev`. A conflict that names an older sequence is that of
 * a deposed leader, or of a log that has gone back: neither settles anything.
 */
function isBeaten(outcome: Extract<AppendOutcome, { kind: "refused" }>, prev: bigint): boolean {
  return outcome.refusal === "Conflict" && outcome.lastSequence !== undefined && outcome.lastSequence > prev;
}
