import type { Clock } from "@tenure/kernel";
import type { AppendOutcome } from "../append-channel.ts";
import type { LoggedMessage } from "../log-transport.ts";
import type { AuditPace } from "../tail/tail-audit.ts";
import type { MemoryFaults } from "./faults.ts";
import { MemoryTransport } from "./memory-transport.ts";

/** A message of the log in memory. */
export interface MemoryMessage extends LoggedMessage {
  readonly partition: number;
  readonly prev: bigint;
}

/** What a log in memory stands on. */
export interface MemoryLogOptions {
  readonly clock: Clock;
  /** Asked for each message that travels; all goes right without it. */
  readonly faults?: MemoryFaults;
  /** Sequence of the first message. Default 1. */
  readonly firstSequence?: bigint;
  /** How often tails compare themselves with the log's end; never without it. */
  readonly auditPace?: AuditPace;
}

/**
 * The log's twin in memory, for simulations and unit tests: one stream of all partitions, appends with an expected
 * sequence, tails, reads and purges, with the same contract as JetStream's and with faults on demand. Nothing here is
 * left to chance or to the machine: the clock and the faults decide everything, so a run can be repeated.
 */
export class MemoryLog {
  readonly #options: MemoryLogOptions;
  readonly #last = new Map<number, bigint>();
  readonly #watchers = new Set<() => void>();
  #messages: MemoryMessage[] = [];
  #nextSequence: bigint;
  #downUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: MemoryLogOptions) {
    this.#options = options;
    this.#nextSequence = options.firstSequence ?? 1n;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get faults(): MemoryFaults {
    return this.#options.faults ?? {};
  }

  get auditPace(): AuditPace | undefined {
    return this.#options.auditPace;
  }

  /** Whether nobody leads: appends are refused, reads are not answered, and tails get nothing. */
  get isDown(): boolean {
    return this.clock.now() < this.#downUntilMs;
  }

  /** A client of the log, named for the faults. */
  connect(client: string): MemoryTransport {
    return new MemoryTransport(this, client);
  }

  /** Nobody leads for so long, as after the loss of a leader. Longer of this and a failover that goes on. */
  failOver(forMs: number): void {
    this.#downUntilMs = Math.max(this.#downUntilMs, this.clock.now() + forMs);
    for (const wake of [...this.#watchers]) wake();
  }

  /** Appends at once, as the leader does. */
  append(partition: number, payload: Uint8Array, prev: bigint): AppendOutcome {
    const last = this.#last.get(partition) ?? 0n;
    if (prev !== last) {
      const description = `wrong last sequence: ${last}`;
      return { kind: "refused", refusal: "Conflict", description, lastSequence: last };
    }
    const sequence = this.#nextSequence;
    this.#nextSequence += 1n;
    this.#messages.push({ partition, sequence, prev, payload: payload.slice() });
    this.#last.set(partition, sequence);
    for (const wake of [...this.#watchers]) wake();
    return { kind: "acked", sequence };
  }

  /**
   * Removes a partition's messages below `sequence`; gives how many. A partition that loses its last message forgets the
   * sequence that the next append must expect, as JetStream does: the mistake that a compactor must never make.
   */
  purge(partition: number, sequence: bigint): number {
    const before = this.#messages.length;
    this.#messages = this.#messages.filter((kept) => kept.partition !== partition || kept.sequence >= sequence);
    if ((this.#last.get(partition) ?? 0n) < sequence) this.#last.delete(partition);
    return before - this.#messages.length;
  }

  /**
   * Loses everything after `sequence`, whatever the partition, as a server does that crashed before it had synced; the
   * sequences are given again. What a log must never do, and its readers must notice.
   */
  lose(sequence: bigint): void {
    this.#messages = this.#messages.filter((kept) => kept.sequence <= sequence);
    this.#last.clear();
    for (const { partition, sequence: last } of this.#messages) this.#last.set(partition, last);
    this.#nextSequence = sequence + 1n;
    for (const wake of [...this.#watchers]) wake();
  }

  /** Sequence of the newest message of any partition; the one before the first when there was none. */
  get lastSequence(): bigint {
    return this.#nextSequence - 1n;
  }

  /** Everything that is in a partition's log now. */
  messages(partition: number): readonly MemoryMessage[] {
    return this.#messages.filter((message) => message.partition === partition);
  }

  /** The first message after `sequence` that is of one of the partitions. */
  next(partitions: ReadonlySet<number>, sequence: bigint): MemoryMessage | undefined {
    for (let index = this.#indexAfter(sequence); index < this.#messages.length; index += 1) {
      const message = this.#messages[index];
      if (message !== undefined && partitions.has(message.partition)) return message;
    }
    return undefined;
  }

  /** Calls `wake` whenever there may be more to deliver, or less. */
  watch(wake: () => void): () => void {
    this.#watchers.add(wake);
    return () => void this.#watchers.delete(wake);
  }

  /** When the present failover ends. */
  get downUntilMs(): number {
    return this.#downUntilMs;
  }

  #indexAfter(sequence: bigint): number {
    let low = 0;
    let high = this.#messages.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#messages[middle]?.sequence ?? 0n) <= sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
