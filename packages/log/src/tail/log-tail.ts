import { type Bus, logSubject } from "@tenure/bus";
import { Backoff, type Clock, type Random, randomBase58, type Timer } from "@tenure/kernel";
import type { LoggedMessage, Tail, TailListener } from "../log-transport.ts";
import { streamNames } from "../streams.ts";
import { Cursors } from "./cursors.ts";
import { type PullListener, PullSession } from "./pull-session.ts";
import { TailAudit } from "./tail-audit.ts";

/** What a tail stands on. */
export interface LogTailOptions {
  /** The connection that it listens on. */
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly readLast: (partition: number) => Promise<LoggedMessage | undefined>;
  /** Told why a consumer was given up and made anew; for the log of the process. */
  readonly onInterruption?: ((why: string) => void) | undefined;
}

/** Waits between consumers that could not be made: short at first, since most outages are a moment. */
const backoff = { firstMs: 20, limitMs: 1000 };

/**
 * Follows partitions of the log for ever. It reads through one consumer at a time and trusts none: whenever one ends,
 * for whatever reason, it makes another that begins after the last judged message, and its cursors see to it that each
 * message is told once and that none is passed over.
 */
export class LogTail implements Tail {
  readonly #options: LogTailOptions;
  readonly #listener: TailListener;
  readonly #cursors: Cursors;
  readonly #partitionOf = new Map<string, number>();
  readonly #backoff: Backoff;
  readonly #name: string;
  readonly #audit: TailAudit;
  readonly #unfollow: () => void;
  #session: PullSession | undefined;
  #sessions = 0;
  /** Messages that were waiting when the present consumer was made and have not come yet. */
  #backlog = 0;
  #retry: Timer | undefined;
  #closed = false;
  #liveSinceMs: number | undefined;

  constructor(from: ReadonlyMap<number, bigint>, listener: TailListener, options: LogTailOptions) {
    this.#options = options;
    this.#listener = listener;
    this.#cursors = new Cursors(from);
    for (const partition of from.keys()) this.#partitionOf.set(logSubject(partition), partition);
    this.#backoff = new Backoff(backoff, options.random);
    this.#name = `tail-${randomBase58(options.random, 8)}`;
    this.#audit = new TailAudit({
      clock: options.clock,
      cursors: this.#cursors,
      readLast: options.readLast,
      onBehind: (why) => this.#restart(why),
      onWentBack: (partition, last, told) => this.#listener.onWentBack?.(partition, last, told),
      knownUpTo: (partition) => this.#listener.knownUpTo?.(partition) ?? 0n,
    });
    this.#unfollow = options.bus.onStatus((status) => {
      if (status === "connected") this.#reopen();
      else this.#restart(`the connection is ${status}`);
    });
    this.#open();
  }

  get liveSinceMs(): number | undefined {
    return this.#liveSinceMs;
  }

  resume(partition: number, sequence: bigint): void {
    if (this.#closed) return;
    this.#partitionOf.set(logSubject(partition), partition);
    this.#cursors.resume(partition, sequence);
    this.#reopen();
  }

  hurry(): Promise<void> | undefined {
    return this.#session?.hurry();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#unfollow();
    this.#audit[Symbol.dispose]();
    this.#stopSession();
  }

  #open(): void {
    if (this.#closed || this.#partitionOf.size === 0 || !this.#options.bus.connected) return;
    this.#sessions += 1;
    const { bus, clock } = this.#options;
    const listener: PullListener = {
      onReady: (pending) => this.#onReady(pending),
      onDelivery: (...delivery) => this.#onDelivery(...delivery),
      restMs: () => this.#listener.restMs?.() ?? 0,
      onEnd: (why) => this.#restart(why),
    };
    const request = {
      stream: streamNames.log,
      consumer: `${this.#name}-${this.#sessions}`,
      subjects: [...this.#partitionOf.keys()],
      after: this.#cursors.position,
    };
    this.#session = new PullSession(bus, clock, request, listener);
  }

  #reopen(): void {
    this.#stopSession();
    this.#open();
  }

  /** Gives the present consumer up and makes another, after a wait that grows until one works. */
  #restart(why: string): void {
    if (this.#closed) return;
    this.#stopSession();
    this.#options.onInterruption?.(why);
    // Without a connection there is nothing to try; its return begins anew.
    if (!this.#options.bus.connected) return;
    this.#retry = this.#options.clock.schedule(this.#backoff.next(), () => this.#open());
  }

  #stopSession(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#session?.[Symbol.dispose]();
    this.#session = undefined;
    this.#liveSinceMs = undefined;
  }

  #onReady(pending: number): void {
    this.#backoff.reset();
    this.#liveSinceMs = this.#options.clock.now();
    this.#backlog = pending;
    if (pending === 0) this.#tellCaughtUp();
  }

  #onDelivery(subject: string, sequence: bigint, prev: bigint | undefined, payload: Uint8Array, pending: number): void {
    const partition = this.#partitionOf.get(subject);
    if (partition === undefined) return;
    const session = this.#session;
    const told = this.#cursors.told(partition);
    const verdict = this.#cursors.judge(partition, sequence, prev);
    if (verdict === "tell") this.#listener.onMessage(partition, sequence, payload);
    else if (verdict === "gap") {
      this.#listener.onReset(partition, `message ${sequence} follows ${prev}, and ${told} was the last before the gap`);
    }
    // The listener may have resumed a partition, which began another consumer.
    if (session !== this.#session) return;
    this.#backlog = pending === 0 ? 0 : this.#backlog - 1;
    if (this.#backlog <= 0) this.#tellCaughtUp();
  }

  #tellCaughtUp(): void {
    for (const partition of this.#cursors.caughtUp()) this.#listener.onCaughtUp(partition);
  }
}
