import type { Bus } from "@tenure/bus";
import { decodeBatch, type ReadBatch } from "@tenure/contracts";
import { waitFor } from "@tenure/testkit";

/** Sees every batch that is appended to the log, and keeps those that change something. */
export class LogWitness implements Disposable {
  readonly #stop: () => void;
  readonly #seen = new Map<number, number>();
  readonly #changes: string[] = [];
  readonly #forgotten: string[] = [];

  constructor(bus: Bus) {
    this.#stop = bus.subscribe("tenure.log.*", (payload) => this.#note(decodeBatch(1n, payload)));
  }

  /** What was changed since the last call. Complete up to the read that `barrier` makes in a partition. */
  async changesSince(partition: number, barrier: () => Promise<unknown>): Promise<readonly string[]> {
    const before = this.#seen.get(partition) ?? 0;
    await barrier();
    await waitFor(() => (this.#seen.get(partition) ?? 0) > before, { describe: "the batch of a linearizable read" });
    return this.#changes.splice(0).filter((change) => !this.#forgotten.some((name) => change.includes(name)));
  }

  /** Leaves the leases of a routing part alone from now on: their terms may run out at any time. */
  forget(part: string): void {
    this.#forgotten.push(`/${part}:`);
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #note({ events, partition }: ReadBatch): void {
    this.#seen.set(partition, (this.#seen.get(partition) ?? 0) + 1);
    for (const event of events) this.#changes.push(JSON.stringify(event, plain));
  }
}

/** Texts for what JSON has no form for, cut so that a failure stays readable. */
function plain(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return typeof value === "string" && value.length > 80 ? `${value.slice(0, 80)}…` : value;
}
