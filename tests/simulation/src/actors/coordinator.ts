import { type Command, existingLease, type PartitionState } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import type { StoreClient } from "./store-client.ts";

interface View {
  /** 0 while the lease does not exist. */
  readonly revision: bigint;
  readonly token: bigint | undefined;
  readonly isPending: boolean;
  readonly isEnding: boolean;
  readonly candidates: readonly string[];
}

/** One of several that elect: it reads, chooses whoever is next, and asks for the revision that it has read. */
export class Coordinator {
  readonly #client: StoreClient;
  readonly #random: Random;
  readonly #leases: readonly string[];
  /** How many it has tried to elect: one after the other, so that whoever may be is met before long. */
  #elections = 0;

  constructor(client: StoreClient, random: Random, leases: readonly string[]) {
    this.#client = client;
    this.#random = random;
    this.#leases = leases;
  }

  async run(): Promise<void> {
    for (;;) {
      await this.#client.process.sleep(60 + this.#random.next() * 300);
      const lease = this.#pick(this.#leases) ?? "";
      const reading = await this.#client.read(this.#client.partitionOf(lease), (state) => viewOf(state, lease));
      if (reading.kind !== "answered") continue;
      const command = this.#decide(lease, reading.value);
      if (command !== undefined) await this.#client.change(this.#client.partitionOf(lease), 300, () => command);
    }
  }

  #decide(lease: string, view: View): Command | undefined {
    const { candidates, isEnding, isPending, revision: expectedRevision, token } = view;
    const dice = this.#random.next();
    const candidate = this.#pick(candidates);
    if (isPending) return undefined;
    const header = { principal: this.#client.principal, lease, expectedRevision };
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    if (token === undefined) {
      const next = candidates[this.#elections % candidates.length];
      if (next === undefined) return undefined;
      this.#elections += 1;
      const acceptWindowMs = this.#pick([40, 80, 150]) ?? 80;
      const coordinator = this.#client.principal;
      return { kind: "elect", ...header, attempt, candidate: next, coordinator, acceptWindowMs };
    }
    if (isEnding) return dice < 0.2 ? { kind: "clearEndOfTerm", ...header, attempt } : undefined;
    if (dice > 0.15) return undefined;
    const preferredHolder = dice < 0.05 ? "" : (candidate ?? "");
    const drainBoundMs = this.#pick([50, 250, 500]) ?? 250;
    return { kind: "markEndOfTerm", ...header, attempt, token, preferredHolder, drainBoundMs, coolDownMs: 150 };
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random.next() * from.length)];
  }
}

function viewOf(state: PartitionState, lease: string): View {
  const record = state.leases.get(lease);
  return {
    revision: existingLease(state, lease)?.revision.sequence ?? 0n,
    token: record?.holds[0]?.token,
    isPending: record?.pending !== undefined,
    isEnding: record?.endOfTerm !== undefined,
    candidates: [...(record?.candidates?.keys() ?? [])],
  };
}
