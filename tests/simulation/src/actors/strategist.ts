import {
  type CandidateRecord,
  type CommandBody,
  existingLease,
  type PartitionState,
  type Strategy,
} from "@tenure/core";
import type { Random } from "@tenure/kernel";
import { drawVersions, pick, plainStrategy } from "./candidacy.ts";
import type { StoreClient } from "./store-client.ts";

interface View {
  readonly revision: bigint;
  readonly token: bigint | undefined;
  readonly candidates: readonly Pick<CandidateRecord, "name" | "principal">[];
}

/** What a strategist changes. */
export interface StrategistOptions {
  readonly leases: readonly string[];
  /** It stops after so many changes. */
  readonly mostChanges: number;
  /** Whether it also cordons, withdraws, marks and lets things run out: then not every move has a change of its own. */
  readonly isWild: boolean;
  readonly isOver: () => boolean;
}

/** Rankings that operators set. The last prefers whoever does not lead, and must not make the leader go round. */
export const expressions = ["candidate.priority", "candidate.name == holder.name ? 0 : 1"] as const;

/** One that changes strategies, priorities and versions all the time, in the name of operators and of candidates. */
export class Strategist {
  readonly #client: StoreClient;
  readonly #random: Random;
  readonly #options: StrategistOptions;

  constructor(client: StoreClient, random: Random, options: StrategistOptions) {
    this.#client = client;
    this.#random = random;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { isOver, leases, mostChanges } = this.#options;
    for (let changes = 0; changes < mostChanges && !isOver(); ) {
      const isResting = this.#random.next() < 0.02;
      await this.#client.process.sleep(isResting ? 1_000 : 5 + this.#random.next() ** 4 * 300);
      const lease = leases[Math.floor(this.#random.next() * leases.length)] ?? "";
      const reading = await this.#client.read(this.#client.partitionOf(lease), (state) => viewOf(state, lease));
      if (reading.kind !== "answered") continue;
      const { principal = this.#client.principal, ...change } = this.#change(lease, reading.value) ?? {};
      if (!("kind" in change)) continue;
      const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
      const command = { ...(change as CommandBody), principal, attempt };
      const answer = await this.#client.change(this.#client.partitionOf(lease), 300, () => command);
      if (answer?.reply.kind === "changed" || answer?.reply.kind === "candidateChanged") changes += 1;
    }
  }

  #change(lease: string, view: View): (CommandBody & { readonly principal?: string }) | undefined {
    const { candidates, revision: expectedRevision } = view;
    const chosen = candidates[Math.floor(this.#random.next() * candidates.length)];
    if (chosen === undefined) return undefined;
    const { name: candidate, principal } = chosen;
    const which = { lease, candidate, expectedRevision: undefined };
    const dice = this.#random.next();
    if (dice < 0.3) {
      const setting =
        this.#random.next() < 0.8 ? { strategy: this.#strategy(), source: "operator" as const } : undefined;
      return { kind: "putStrategy", lease, expectedRevision, strategy: setting, conflict: undefined };
    }
    if (dice < 0.6) return { kind: "setPriority", ...which, priority: this.#priority() };
    if (dice < 0.8 || !this.#options.isWild) {
      return { kind: "updateCandidate", ...which, principal, spec: drawVersions(this.#random) };
    }
    return this.#upset(lease, view, chosen);
  }

  #upset(
    lease: string,
    { candidates, revision: expectedRevision, token }: View,
    { name: candidate, principal }: View["candidates"][number],
  ): (CommandBody & { readonly principal?: string }) | undefined {
    const which = { lease, candidate, expectedRevision: undefined };
    const unchecked = { lease, expectedRevision: undefined, expectedUid: undefined };
    const dice = this.#random.next();
    if (dice < 0.15) {
      const cordon = this.#random.next() < 0.7 ? { expiresAfterMs: pick(this.#random, [300, 1_500]) } : undefined;
      return { kind: "setCordon", ...which, cordon };
    }
    if (dice < 0.3) return { kind: "withdrawCandidate", ...which, principal };
    if (dice < 0.5) {
      const isHealthy = this.#random.next() < 0.5;
      return { kind: "updateCandidate", ...which, principal, spec: { isHealthy } };
    }
    if (dice < 0.7) {
      const spec = { minimumTermMs: 200, coolDownMs: 150, drainBoundMs: 700 };
      return { kind: "update", ...unchecked, spec, createIfAbsent: true };
    }
    if (dice < 0.8) return { kind: "delete", ...unchecked };
    if (token === undefined) return undefined;
    if (dice < 0.85) return { kind: "revoke", lease, expectedRevision, token };
    const preferredHolder = this.#random.next() < 0.5 ? "" : (candidates[0]?.name ?? "");
    return { kind: "markEndOfTerm", lease, expectedRevision, token, preferredHolder, coolDownMs: 200 };
  }

  #priority() {
    const { isWild } = this.#options;
    if (this.#random.next() < 0.2) return undefined;
    const expiresAfterMs = isWild && this.#random.next() < 0.3 ? 400 : undefined;
    return { value: Math.floor(this.#random.next() * 4), expiresAfterMs };
  }

  #strategy(): Strategy {
    const dice = this.#random.next();
    if (dice < 0.5) return { kind: "expression", expression: pick(this.#random, expressions), vendor: "" };
    return plainStrategy(pick(this.#random, ["oldestCompatibilityVersion", "newestCompatibilityVersion", "priority"]));
  }
}

function viewOf(state: PartitionState, lease: string): View {
  const record = state.leases.get(lease);
  const candidates = [...(record?.candidates?.values() ?? [])];
  return {
    revision: existingLease(state, lease)?.revision.sequence ?? 0n,
    token: record?.holds[0]?.token,
    candidates: candidates.map(({ name, principal }) => ({ name, principal })),
  };
}
