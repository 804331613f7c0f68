import type { Timer } from "@tenure/kernel";
import type { LoggedMessage, Tail, TailListener } from "../log-transport.ts";
import { Cursors } from "../tail/cursors.ts";
import { TailAudit } from "../tail/tail-audit.ts";
import type { MemoryLog, MemoryMessage } from "./memory-log.ts";

/** What a tail in memory stands on. */
export interface MemoryTailOptions {
  readonly log: MemoryLog;
  readonly client: string;
  /** Whether its client is cut off. */
  readonly isCut: () => boolean;
  readonly readLast: (partition: number) => Promise<LoggedMessage | undefined>;
  readonly onClose: () => void;
}

/**
 * A tail of a log in memory: the same cursors as the one on JetStream, fed one message at a time by the clock. A message
 * that is on its way when the client is cut off is lost and read again.
 */
export class MemoryTail implements Tail {
  readonly #options: MemoryTailOptions;
  readonly #listener: TailListener;
  readonly #cursors: Cursors;
  readonly #unwatch: () => void;
  readonly #audit: TailAudit | undefined;
  #followed: ReadonlySet<number>;
  #timer: Timer | undefined;
  #liveSinceMs: number | undefined;
  /** The log's end when it began to listen: whoever has come this far has caught up. */
  #target = 0n;
  #closed = false;

  constructor(from: ReadonlyMap<number, bigint>, listener: TailListener, options: MemoryTailOptions) {
    this.#options = options;
    this.#listener = listener;
    this.#cursors = new Cursors(from);
    this.#followed = new Set(from.keys());
    this.#unwatch = options.log.watch(() => this.wake());
    this.#audit = this.#beginAudit();
    this.wake();
  }

  get liveSinceMs(): number | undefined {
    return this.#liveSinceMs;
  }

  resume(partition: number, sequence: bigint): void {
    if (this.#closed) return;
    this.#cursors.resume(partition, sequence);
    this.#followed = new Set(this.#cursors.partitions);
    this.#drop();
    this.#target = this.#options.log.lastSequence;
    this.wake();
  }

  /** A tail in memory never rests: what wakes a process costs nothing here. */
  hurry(): undefined {}

  /** Looks whether there is anything to tell; called whenever that may have changed. */
  wake(): void {
    const { isCut, log } = this.#options;
    if (this.#closed) return;
    if (isCut()) {
      this.#drop();
      this.#liveSinceMs = undefined;
      return;
    }
    if (log.isDown) {
      this.#drop();
      this.#liveSinceMs = undefined;
      this.#timer = log.clock.schedule(log.downUntilMs - log.clock.now(), () => this.#turn());
      return;
    }
    this.#timer ??= log.clock.schedule(0, () => this.#turn());
  }

  close(): void {
    this.#closed = true;
    this.#drop();
    this.#unwatch();
    this.#audit?.[Symbol.dispose]();
    this.#options.onClose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closed) this.close();
  }

  #beginAudit(): TailAudit | undefined {
    const { log, readLast } = this.#options;
    const { auditPace: pace, clock } = log;
    if (pace === undefined) return undefined;
    return new TailAudit({
      clock,
      cursors: this.#cursors,
      readLast,
      onBehind: () => this.wake(),
      onWentBack: (partition, last, told) => this.#listener.onWentBack?.(partition, last, told),
      knownUpTo: (partition) => this.#listener.knownUpTo?.(partition) ?? 0n,
      pace,
    });
  }

  #turn(): void {
    const { client, log } = this.#options;
    this.#timer = undefined;
    if (log.isDown) {
      this.wake();
      return;
    }
    if (this.#liveSinceMs === undefined) {
      this.#liveSinceMs = log.clock.now();
      this.#target = log.lastSequence;
    }
    const message = log.next(this.#followed, this.#cursors.position);
    if (message === undefined || this.#cursors.position >= this.#target) this.#tellCaughtUp();
    if (message === undefined) return;
    const { partition, sequence } = message;
    const delayMs = log.faults.deliveryMs?.({ client, partition, sequence }) ?? 0;
    if (delayMs > 0) this.#timer = log.clock.schedule(delayMs, () => this.#deliver(message));
    else this.#deliver(message);
  }

  #deliver({ partition, payload, prev, sequence }: MemoryMessage): void {
    this.#timer = undefined;
    const told = this.#cursors.told(partition);
    const verdict = this.#cursors.judge(partition, sequence, prev);
    if (verdict === "tell") this.#listener.onMessage(partition, sequence, payload);
    else if (verdict === "gap") {
      this.#listener.onReset(partition, `message ${sequence} follows ${prev}, and ${told} was the last before the gap`);
    }
    this.wake();
  }

  #tellCaughtUp(): void {
    for (const partition of this.#cursors.caughtUp()) this.#listener.onCaughtUp(partition);
  }

  #drop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
