import type { Clock, Timer } from "@tenure/kernel";
import { replicaBehind } from "./faults.ts";

interface Waiter {
  readonly revision: bigint;
  readonly resolve: () => void;
}

/** Those who wait until the log has been read up to a position. */
export class RevisionWaiters {
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many wait. */
  get size(): number {
    return this.#waiters.size;
  }

  /** Resolves when `shownUpTo` is at or above `revision`; UNAVAILABLE with REPLICA_BEHIND after `timeoutMs`. */
  async reach(
    revision: bigint,
    timeoutMs: number,
    signal: AbortSignal | undefined,
    shownUpTo: () => bigint | undefined,
  ): Promise<void> {
    signal?.throwIfAborted();
    if ((shownUpTo() ?? -1n) >= revision) return;
    let timer: Timer | undefined;
    let waiter: Waiter | undefined;
    let onAbort: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        waiter = { revision, resolve };
        this.#waiters.add(waiter);
        timer = this.#clock.schedule(timeoutMs, () => reject(replicaBehind(whyBehind(shownUpTo(), revision))));
        onAbort = () => reject(signal?.reason);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    } finally {
      timer?.cancel();
      if (waiter !== undefined) this.#waiters.delete(waiter);
      if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
    }
  }

  /** The log has been read up to a position; undefined when the present cannot be shown. */
  wake(shownUpTo: bigint | undefined): void {
    if (shownUpTo === undefined) return;
    for (const waiter of this.#waiters) if (shownUpTo >= waiter.revision) waiter.resolve();
  }
}

function whyBehind(shownUpTo: bigint | undefined, revision: bigint): string {
  if (shownUpTo === undefined) return "the log is being read";
  return `it has read the log up to ${shownUpTo}, not ${revision}`;
}
