import type { PartitionState } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import type { StoreClient } from "./store-client.ts";

/** What a reader saw of a lease. */
export interface LeaseReading {
  readonly sequence: bigint;
  readonly lastToken: bigint;
  readonly guarded: string | undefined;
}

/** Told of readings. */
export interface ReadListener {
  /** A linearizable reading that was asked for at the position `askedAt` of the log. */
  onRead(partition: number, lease: string, reading: LeaseReading, askedAt: bigint): void;
  /** A plain reading by one who had seen `revision`. */
  onPlainRead(partition: number, lease: string, reading: LeaseReading, revision: bigint): void;
  /** Where the log of a partition ends right now. */
  endOf(partition: number): bigint;
}

const utf8 = new TextDecoder();

/** One that reads leases, now from the owner and now from any replica. */
export class Reader {
  readonly #client: StoreClient;
  readonly #random: Random;
  readonly #leases: readonly string[];
  readonly #listener: ReadListener;
  #revision = 0n;

  constructor(client: StoreClient, random: Random, leases: readonly string[], listener: ReadListener) {
    this.#client = client;
    this.#random = random;
    this.#leases = leases;
    this.#listener = listener;
  }

  async run(): Promise<void> {
    for (;;) {
      await this.#client.process.sleep(40 + this.#random.next() * 160);
      const lease = this.#leases[Math.floor(this.#random.next() * this.#leases.length)] ?? "";
      if (this.#random.next() < 0.5) await this.#read(lease);
      else await this.#readPlain(lease);
    }
  }

  async #read(lease: string): Promise<void> {
    const partition = this.#client.partitionOf(lease);
    const askedAt = this.#listener.endOf(partition);
    const outcome = await this.#client.read(partition, (state) => readingOf(state, lease));
    if (outcome.kind !== "answered") return;
    this.#note(outcome.value);
    this.#listener.onRead(partition, lease, outcome.value, askedAt);
  }

  async #readPlain(lease: string): Promise<void> {
    const partition = this.#client.partitionOf(lease);
    const revision = this.#revision;
    const outcome = await this.#client.readPlain(partition, revision, (state) => readingOf(state, lease));
    if (outcome.kind !== "answered") return;
    this.#note(outcome.value);
    this.#listener.onPlainRead(partition, lease, outcome.value, revision);
  }

  #note({ sequence }: LeaseReading): void {
    if (sequence > this.#revision) this.#revision = sequence;
  }
}

function readingOf(state: PartitionState, lease: string): LeaseReading {
  const record = state.leases.get(lease);
  const value = record?.guarded?.get("value")?.value;
  return {
    sequence: state.lastSequence,
    lastToken: record?.lastToken ?? 0n,
    guarded: value === undefined ? undefined : utf8.decode(value),
  };
}
