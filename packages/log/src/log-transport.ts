import type { AppendOutcome } from "./append-channel.ts";

/** One append to a partition's log. */
export interface LogAppend {
  readonly partition: number;
  readonly payload: Uint8Array;
  /** The condition: sequence of the partition's last message; 0 when there must be none. */
  readonly prev: bigint;
  /** After this the outcome is `Ambiguous`. */
  readonly timeoutMs: number;
}

/** One message of a partition's log. */
export interface LoggedMessage {
  readonly sequence: bigint;
  readonly payload: Uint8Array;
  /** The condition that it was appended with, so the sequence of the message before it; undefined if it had none. */
  readonly prev: bigint | undefined;
}

/**
 * The log as a replica uses it: the port behind which JetStream stands, or a simulated log. Only an acknowledged append
 * proves anything; what a read or a tail has not shown may be there all the same.
 */
export interface LogTransport {
  /** Appends once, without retries; the outcome says what may be done next. */
  append(request: LogAppend): Promise<AppendOutcome>;
  /**
   * Follows partitions from after the given sequences (0: from the beginning): each message once, in the log's order,
   * for ever, across reconnects, server restarts and leader changes, until it is disposed of.
   */
  tail(from: ReadonlyMap<number, bigint>, listener: TailListener): Tail;
  /**
   * The first message of the partition after `sequence`, as positive evidence. Undefined proves nothing, because a
   * deposed leader may have answered. Rejects with UNAVAILABLE when nobody answers.
   */
  readAfter(partition: number, sequence: bigint): Promise<LoggedMessage | undefined>;
  /** The last message of the partition, or an older one: a hint, for example of where the latest snapshot is. */
  readLast(partition: number): Promise<LoggedMessage | undefined>;
}

/** What a tail tells, synchronously and one call at a time. A listener must not throw: that is a mistake of the program. */
export interface TailListener {
  /** The payload may be a part of a larger buffer: whoever keeps some of it copies that. */
  onMessage(partition: number, sequence: bigint, payload: Uint8Array): void;
  /** Once after the start and after each `resume`: everything has been told that was there when it began to listen. */
  onCaughtUp(partition: number): void;
  /** Messages that should come next were purged: load a snapshot, then `resume`. Until then the partition is silent. */
  onReset(partition: number, why: string): void;
  /**
   * The log's last message of the partition is older than one that was told or is known, seen twice within a while: acknowledged
   * changes are gone. The partition must halt.
   */
  onWentBack?(partition: number, lastSequence: bigint, toldSequence: bigint): void;
  /** What the listener knows to be in the log without the tail: appends of its own that were acknowledged. */
  knownUpTo?(partition: number): bigint;
  /**
   * How much later a message may be told, so that the tail gathers what comes instead of waking the process for each;
   * absent or 0 tells each at once. Asked again after each that was told.
   */
  restMs?(): number;
}

/** A tail that runs. */
export interface Tail extends AsyncDisposable {
  /**
   * Since when, on the transport's clock, messages reach it without interruption; undefined while they do not. Silence
   * of the log means something only after it.
   */
  readonly liveSinceMs: number | undefined;
  /** Follows a partition from after `sequence`, whether it was followed before, was reset, or is new. */
  resume(partition: number, sequence: bigint): void;
  /** Ends a rest: resolves when what was there has been told. Undefined when it does not rest. */
  hurry(): Promise<void> | undefined;
}
