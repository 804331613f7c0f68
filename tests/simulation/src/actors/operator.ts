import type { Command } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import type { StoreClient } from "./store-client.ts";

/** One that deletes leases and revokes terms, whoever holds them (rule 15). */
export class Operator {
  readonly #client: StoreClient;
  readonly #random: Random;
  readonly #leases: readonly string[];

  constructor(client: StoreClient, random: Random, leases: readonly string[]) {
    this.#client = client;
    this.#random = random;
    this.#leases = leases;
  }

  async run(): Promise<void> {
    for (;;) {
      await this.#client.process.sleep(200 + this.#random.next() * 900);
      const lease = this.#leases[Math.floor(this.#random.next() * this.#leases.length)] ?? "";
      if (this.#random.next() < 0.7) await this.#delete(lease);
      else await this.#revoke(lease);
    }
  }

  async #delete(lease: string): Promise<void> {
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const { principal } = this.#client;
    const none = { expectedRevision: undefined, expectedUid: undefined };
    const command: Command = { kind: "delete", principal, attempt, lease, ...none };
    await this.#client.change(this.#client.partitionOf(lease), 300, () => command);
  }

  async #revoke(lease: string): Promise<void> {
    const partition = this.#client.partitionOf(lease);
    const reading = await this.#client.read(partition, (state) => state.leases.get(lease)?.revision.sequence ?? 0n);
    if (reading.kind !== "answered") return;
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const { principal } = this.#client;
    const command: Command = { kind: "revoke", principal, attempt, lease, expectedRevision: reading.value, token: 0n };
    await this.#client.change(partition, 300, () => command);
  }
}
