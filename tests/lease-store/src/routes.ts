import { type Bus, ownerWildcard, partitionRoute } from "@tenure/bus";
import { OwnerBeat } from "@tenure/contracts";
import { Fault, systemClock } from "@tenure/kernel";

/** An answer that a replaced owner may still have sent is waited for this long after another was heard of. */
const lateAnswerMs = 100;

/**
 * Where the owners of partitions are, as callers learn it: from the beats of the replicas. Calls go straight to the
 * owner. One whose owner was replaced is given up, so that it can be sent again with the same attempt; so is one that was
 * sent without a route before the change, because the replica that took it may be the one that has gone.
 */
export class Routes implements Disposable {
  readonly #epochs = new Map<number, bigint>();
  readonly #highest = new Map<number, bigint>();
  readonly #calls = new Map<number, Map<AbortController, bigint>>();
  readonly #unsubscribe: () => void;

  constructor(bus: Bus) {
    this.#unsubscribe = bus.subscribe(ownerWildcard, (payload) => {
      for (const { epoch, partition } of OwnerBeat.decode(payload).owned) this.#note(partition, epoch);
    });
  }

  /** How many partitions have an owner that is known. */
  get known(): number {
    return this.#epochs.size;
  }

  /** Sends a call to the owner of its partition; without a route when that is not known, which costs a hop. */
  async send<Answer>(
    partition: number,
    call: (options: { readonly route?: string; readonly signal: AbortSignal }) => Promise<Answer>,
  ): Promise<Answer> {
    const epoch = this.#epochs.get(partition);
    const attempt = new AbortController();
    const { signal } = attempt;
    const calls = this.#callsOf(partition);
    calls.set(attempt, epoch ?? this.#highest.get(partition) ?? 0n);
    try {
      return await call(epoch === undefined ? { signal } : { route: partitionRoute(partition, epoch), signal });
    } catch (thrown) {
      if (signal.reason instanceof Fault) throw signal.reason;
      const isGone = thrown instanceof Fault && ["NO_RESPONDER", "OWNER_CHANGED"].includes(thrown.reason);
      if (isGone && this.#epochs.get(partition) === epoch) this.#epochs.delete(partition);
      throw thrown;
    } finally {
      calls.delete(attempt);
    }
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }

  #callsOf(partition: number): Map<AbortController, bigint> {
    const calls = this.#calls.get(partition) ?? new Map<AbortController, bigint>();
    this.#calls.set(partition, calls);
    return calls;
  }

  #note(partition: number, epoch: bigint): void {
    if (epoch < (this.#highest.get(partition) ?? 0n)) return;
    this.#epochs.set(partition, epoch);
    this.#highest.set(partition, epoch);
    const replaced = [...this.#callsOf(partition)].filter(([, sentTo]) => sentTo < epoch);
    if (replaced.length === 0) return;
    const reason = "OWNER_CHANGED";
    const message = `partition ${partition} has another owner`;
    systemClock.schedule(lateAnswerMs, () => {
      for (const [attempt] of replaced) attempt.abort(new Fault({ code: "UNAVAILABLE", reason, message }));
    });
  }
}
