import { type Command, existingLease, type PartitionState } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import type { StoreClient } from "./store-client.ts";

interface View {
  readonly revision: bigint;
  readonly token: bigint;
}

/**
 * One that deletes leases and revokes terms, whoever holds them (rule 15). One that meddles also marks terms to end, and
 * tries with a holder's token what only the holder may do.
 */
export class Operator {
  readonly #client: StoreClient;
  readonly #random: Random;
  readonly #leases: readonly string[];
  readonly #isMeddling: boolean;
  #forged = 0;

  constructor(client: StoreClient, random: Random, leases: readonly string[], isMeddling: boolean) {
    this.#client = client;
    this.#random = random;
    this.#leases = leases;
    this.#isMeddling = isMeddling;
  }

  async run(): Promise<void> {
    for (;;) {
      await this.#client.process.sleep(200 + this.#random.next() * 900);
      const lease = this.#leases[Math.floor(this.#random.next() * this.#leases.length)] ?? "";
      if (this.#isMeddling && this.#random.next() < 0.4) await this.#meddle(lease, this.#random.next());
      else if (this.#random.next() < 0.7) await this.#delete(lease);
      else await this.#revoke(lease);
    }
  }

  async #delete(lease: string): Promise<void> {
    const none = { expectedRevision: undefined, expectedUid: undefined };
    await this.#change(lease, { kind: "delete", lease, ...none, ...this.#header() });
  }

  async #revoke(lease: string): Promise<void> {
    const view = await this.#read(lease);
    if (view === undefined) return;
    const { revision: expectedRevision } = view;
    await this.#change(lease, { kind: "revoke", lease, expectedRevision, token: 0n, ...this.#header() });
  }

  async #meddle(lease: string, dice: number): Promise<void> {
    const view = await this.#read(lease);
    if (view === undefined || view.token === 0n) return;
    const { revision: expectedRevision, token } = view;
    const header = this.#header();
    if (dice < 0.4) {
      const mark = { kind: "markEndOfTerm", lease, expectedRevision, token, preferredHolder: "" } as const;
      await this.#change(lease, { ...mark, ...header });
      return;
    }
    const forged: Command =
      dice < 0.7
        ? { kind: "guard", lease, token, comparisons: [], changes: [this.#forgery()], ...header }
        : dice < 0.85
          ? { kind: "release", items: [{ lease, token }], ...header }
          : { kind: "renew", items: [{ lease, token, sendNumber: 1n }], principal: header.principal };
    await this.#change(lease, forged);
  }

  #forgery() {
    this.#forged += 1;
    return { key: "value", value: new Uint8Array(Buffer.from(`forged:${this.#client.clientId}:${this.#forged}`)) };
  }

  async #read(lease: string): Promise<View | undefined> {
    const reading = await this.#client.read(this.#client.partitionOf(lease), (state) => viewOf(state, lease));
    return reading.kind === "answered" ? reading.value : undefined;
  }

  #header() {
    return { principal: this.#client.principal, attempt: { ...this.#client.nextAttempt(), settledBelow: 0n } };
  }

  async #change(lease: string, command: Command): Promise<void> {
    await this.#client.change(this.#client.partitionOf(lease), 300, () => command);
  }
}

function viewOf(state: PartitionState, lease: string): View {
  const record = existingLease(state, lease);
  return { revision: record?.revision.sequence ?? 0n, token: record?.holds[0]?.token ?? 0n };
}
