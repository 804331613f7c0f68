import {
  type CollectionItem,
  CollectionOutcome,
  type CollectionState,
  candidateKeyToWire,
  durationFromMs,
  HoldBackReason,
  leaseKeyToWire,
  timestampFromMs,
} from "@tenure/contracts";
import {
  type CandidateRecord,
  type CollectionDecision,
  type CollectionPolicy,
  collectionDecision,
  departureOf,
  elapsedMs,
  type HoldBack,
  identityAnnotations,
  type LeaseKey,
  type LeaseRecord,
} from "@tenure/core";
import { type Clock, Fault, type Random, randomBase58 } from "@tenure/kernel";
import type { LogReader } from "@tenure/reader";
import type { Directory } from "../directory/directory.ts";
import { type Asking, expectationOf, type IdentityStore } from "../store/identity-store.ts";
import type { Departures } from "./departures.ts";

/** What a collector stands on. */
export interface CollectorPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly reader: Pick<LogReader, "liveSinceMs" | "partitions" | "stateOf">;
  readonly directory: Directory;
  readonly departures: Departures;
  readonly store: IdentityStore;
  readonly policy: CollectionPolicy;
  readonly principal: string;
  readonly instance: string;
  readonly resyncMs: number;
  readonly isDryRun: boolean;
  /** The collector's own lease. */
  readonly term: { readonly isHeld: boolean; readonly token: bigint };
  /** When the store was last seen to come back. */
  storeBackAtMs(): number | undefined;
  readonly listener: CollectorListener;
}

/** Told of what collection does, for logs and metrics. */
export interface CollectorListener {
  onHoldBack(reason: HoldBack | undefined, id: string, dead: number, total: number): void;
  /** An operator let a hold-back go on. */
  onWord(holdBackId: string, reason: string, principal: string): void;
  onCollected(what: "identity" | "candidate", name: string, lagMs: number): void;
  onSpared(what: "identity" | "candidate", name: string): void;
  onFault(doing: string, fault: unknown): void;
}

/** Records that are collected at the same time: their removals share the owners' batches. */
const atOnce = 64;
/** How long one removal may take before it is left to the next round. */
const deadlineMs = 5_000;
/** A departure that its own replica should have finished by now is taken over after this long. */
const orphanedMs = 2_000;
/** What a report may list. */
const mostItems = 10_000;

const holdBackReasons: Readonly<Record<HoldBack, HoldBackReason>> = {
  tooManyDead: HoldBackReason.TOO_MANY_DEAD,
  storeRecovered: HoldBackReason.STORE_RECOVERED,
  justStarted: HoldBackReason.JUST_STARTED,
};

/**
 * Collects what is dead while this replica holds the collector's lease. What is dead is decided by core from this
 * replica's own sight, and judged anew by the owner of each record, who spares what was renewed in between. It remembers
 * nothing that matters: the next collector goes on from the records.
 */
export class Collector {
  readonly #ports: CollectorPorts;
  #holdBack: { readonly reason: HoldBack; readonly id: string } | undefined;
  /** The hold-back that an operator let go on. */
  #wordFor = "";
  #collected = 0n;
  #spared = 0n;
  #lastRunWallMs: number | undefined;
  #round: Promise<unknown> = Promise.resolve();
  #wake: () => void = () => {};

  constructor(ports: CollectorPorts) {
    this.#ports = ports;
  }

  /** Collects until the signal is aborted, which is when the lease is lost. */
  async run(signal: AbortSignal): Promise<void> {
    this.#collected = 0n;
    this.#spared = 0n;
    while (!signal.aborted) {
      const nextMs = await this.#serially(() => this.#collect(false, signal)).catch((fault: unknown) => {
        this.#ports.listener.onFault("collect", fault);
        return { nextMs: undefined };
      });
      await this.#pause(Math.min(nextMs.nextMs ?? Number.POSITIVE_INFINITY, this.#ports.resyncMs), signal);
    }
    this.#setHoldBack(undefined);
  }

  /** Something happened that a round may be worth. */
  stir(): void {
    this.#wake();
  }

  /** Where collection stands. */
  get state(): CollectionState {
    const { directory, instance, term } = this.#ports;
    return {
      collector: instance,
      token: term.token,
      holdBack: this.#holdBack === undefined ? HoldBackReason.UNSPECIFIED : holdBackReasons[this.#holdBack.reason],
      holdBackId: this.#holdBack?.id ?? "",
      dead: this.#expired().length,
      total: directory.total,
      collected: this.#collected,
      spared: this.#spared,
      lastRunAt: this.#lastRunWallMs === undefined ? undefined : timestampFromMs(this.#lastRunWallMs),
    };
  }

  /** Lets a hold-back go on; FAILED_PRECONDITION when it is another one, or over. */
  goOn(holdBackId: string, reason: string, principal: string): void {
    this.#decide();
    if (this.#holdBack?.id !== holdBackId) throw noSuchHoldBack(holdBackId, this.#holdBack?.id ?? "");
    if (this.#holdBack.reason !== "tooManyDead") throw notNow(this.#holdBack);
    this.#wordFor = holdBackId;
    this.#ports.listener.onWord(holdBackId, reason, principal);
  }

  /** Collects now, or shows what would be collected; refused with COLLECTION_HELD_BACK while it holds back. */
  async collectNow(isDryRun: boolean, signal: AbortSignal): Promise<readonly CollectionItem[]> {
    const { items } = await this.#serially(() => this.#collect(isDryRun, signal));
    const held = this.#holdBack;
    if (held !== undefined && !isDryRun && this.#wordFor !== held.id) throw heldBack(held, this.state);
    return items.slice(0, mostItems);
  }

  /** One round at a time. */
  #serially<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const result = this.#round.then(work);
    this.#round = result.catch(() => undefined);
    return result;
  }

  async #collect(isDryRun: boolean, signal: AbortSignal) {
    const { clock, isDryRun: isAlwaysDry } = this.#ports;
    const isDry = isDryRun || isAlwaysDry;
    this.#lastRunWallMs = clock.wall();
    if (!isDry) await this.#finishDepartures(signal);
    const decision = this.#decide();
    const items: CollectionItem[] = [];
    for (const chunk of chunksOf(decision.due, atOnce)) {
      if (signal.aborted || !this.#ports.term.isHeld) break;
      items.push(...(await Promise.all(chunk.map((id) => this.#collectIdentity(id, isDry, signal)))));
    }
    items.push(...this.#left(decision));
    if (decision.holdBack === undefined) items.push(...(await this.#collectCandidates(isDry, signal)));
    const pending = this.#departed().length > 0 ? orphanedMs : Number.POSITIVE_INFINITY;
    return { items, nextMs: Math.min(decision.nextMs ?? Number.POSITIVE_INFINITY, pending) };
  }

  #decide(): CollectionDecision {
    const { clock, directory, policy, reader, storeBackAtMs } = this.#ports;
    const decision = collectionDecision(policy, {
      now: clock.now(),
      total: directory.total,
      expired: this.#expired(),
      watchingSinceMs: reader.liveSinceMs,
      storeBackAtMs: storeBackAtMs(),
      mayGoOn: this.#holdBack !== undefined && this.#wordFor === this.#holdBack.id,
    });
    // A hold-back that an operator let go on lasts, under its name, until there are no longer too many dead.
    const isWordUsed = this.#holdBack !== undefined && this.#wordFor === this.#holdBack.id;
    if (decision.holdBack !== undefined || !isWordUsed || !this.#isTooManyWithoutWord()) {
      this.#setHoldBack(decision.holdBack);
    }
    return decision;
  }

  #isTooManyWithoutWord(): boolean {
    const { clock, directory, policy } = this.#ports;
    const now = clock.now();
    const sight = { now, total: directory.total, expired: this.#expired(), mayGoOn: false, storeBackAtMs: undefined };
    return collectionDecision(policy, { ...sight, watchingSinceMs: Number.NEGATIVE_INFINITY }).holdBack !== undefined;
  }

  #setHoldBack(reason: HoldBack | undefined): void {
    if (this.#holdBack?.reason === reason) return;
    const id = reason === undefined ? "" : randomBase58(this.#ports.random, 8);
    this.#holdBack = reason === undefined ? undefined : { reason, id };
    this.#wordFor = "";
    this.#ports.listener.onHoldBack(reason, id, this.#expired().length, this.#ports.directory.total);
  }

  #expired(): readonly { readonly id: string; readonly sinceMs: number }[] {
    const { directory } = this.#ports;
    const expired: { id: string; sinceMs: number }[] = [];
    for (const id of directory.ended) {
      const sinceMs = directory.expiredSinceMs(id);
      if (sinceMs !== undefined) expired.push({ id, sinceMs });
    }
    return expired;
  }

  #departed(): readonly string[] {
    const { directory } = this.#ports;
    return [...directory.ended].filter((id) => {
      const record = directory.recordOf(id);
      return record !== undefined && departureOf(record) !== undefined;
    });
  }

  /** Departures that are in the log and that nobody has finished: their replica died, or could not. */
  async #finishDepartures(signal: AbortSignal): Promise<void> {
    const { clock, departures, directory, listener, term } = this.#ports;
    const due = this.#departed().filter((id) => {
      const record = directory.recordOf(id);
      return record !== undefined && elapsedMs(record.revision, clock.now()) >= orphanedMs;
    });
    for (const chunk of chunksOf(due, atOnce)) {
      if (signal.aborted || !term.isHeld) return;
      await Promise.all(
        chunk.map((id) =>
          departures.finish(id, "departed", this.#asking(signal)).catch((fault: unknown) => {
            listener.onFault("finish a departure", fault);
          }),
        ),
      );
    }
  }

  async #collectIdentity(id: string, isDryRun: boolean, signal: AbortSignal): Promise<CollectionItem> {
    const { clock, directory, listener, policy } = this.#ports;
    const sinceMs = directory.expiredSinceMs(id);
    const expiredForMs = sinceMs === undefined ? 0 : Math.max(0, clock.now() - sinceMs);
    const outcome = await this.#outcomeOf(id, isDryRun, signal);
    if (!isDryRun && outcome === CollectionOutcome.COLLECTED) {
      this.#collected += 1n;
      listener.onCollected("identity", id, Math.max(0, expiredForMs - policy.graceMs));
    } else if (!isDryRun && outcome === CollectionOutcome.SPARED) {
      this.#spared += 1n;
      listener.onSpared("identity", id);
    }
    return { subject: { $case: "identity", value: id }, outcome, expiredFor: durationFromMs(Math.round(expiredForMs)) };
  }

  async #outcomeOf(id: string, isDryRun: boolean, signal: AbortSignal): Promise<CollectionOutcome> {
    const { departures, directory, listener, policy, store } = this.#ports;
    const record = directory.recordOf(id);
    if (record === undefined) return CollectionOutcome.ALREADY_GONE;
    if (directory.expiredSinceMs(id) === undefined) return CollectionOutcome.SPARED;
    if (isDryRun) return CollectionOutcome.COLLECTED;
    const reason = "collected: not heard of for its validity and the grace";
    const asking = this.#asking(signal);
    try {
      if (departures.hasDependents(record)) return await this.#collectWithDependents(id, record, reason, asking);
      const subject = { subject: { lease: record.key }, isDependent: false, graceMs: policy.graceMs, reason };
      const isCollected = await store.collect({ ...subject, ...expectationOf(record) }, asking);
      if (isCollected) return CollectionOutcome.COLLECTED;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === "NOT_FOUND") return CollectionOutcome.ALREADY_GONE;
      if (!(thrown instanceof Fault) || thrown.code !== "ABORTED") listener.onFault("collect an identity", thrown);
    }
    return directory.recordOf(id) === undefined ? CollectionOutcome.ALREADY_GONE : CollectionOutcome.SPARED;
  }

  /** The departure is written on the record first; then what depends on it goes, then the record (rule 23). */
  async #collectWithDependents(
    id: string,
    record: LeaseRecord,
    reason: string,
    asking: Asking,
  ): Promise<CollectionOutcome> {
    // Before its term has ended in the log it is still its process's: the owner has not said that it is over.
    if (record.holds.length > 0) return CollectionOutcome.SPARED;
    const marked = await this.#ports.store.update(
      {
        lease: leaseKeyToWire(record.key),
        expectedRevision: record.revision.sequence,
        spec: { annotations: { ...record.spec.annotations, [identityAnnotations.departed]: "collected" } },
        updateMask: ["annotations"],
        note: { reason },
      },
      asking,
    );
    await this.#ports.departures.reach(marked?.revision ?? 0n);
    await this.#ports.departures.finish(id, reason, asking);
    return CollectionOutcome.COLLECTED;
  }

  /** Those that are dead and are not collected in this round. */
  #left({ due, holdBack }: CollectionDecision): readonly CollectionItem[] {
    const { clock } = this.#ports;
    const isDue = new Set(due);
    const outcome = holdBack === undefined ? CollectionOutcome.IN_GRACE : CollectionOutcome.HELD_BACK;
    return this.#expired()
      .filter(({ id }) => !isDue.has(id))
      .map(({ id, sinceMs }) => ({
        subject: { $case: "identity" as const, value: id },
        outcome,
        expiredFor: durationFromMs(Math.round(Math.max(0, clock.now() - sinceMs))),
      }));
  }

  async #collectCandidates(isDryRun: boolean, signal: AbortSignal): Promise<readonly CollectionItem[]> {
    const items: CollectionItem[] = [];
    for (const chunk of chunksOf(this.#expiredCandidates(), atOnce)) {
      if (signal.aborted || !this.#ports.term.isHeld) break;
      const collected = chunk.map((one) => this.#collectCandidate(one, isDryRun, signal));
      items.push(...(await Promise.all(collected)));
    }
    return items;
  }

  /** Candidates past validity and grace, once the collector has watched and the store worked for long enough. */
  #expiredCandidates(): readonly DeadCandidate[] {
    const { clock, policy, reader, storeBackAtMs } = this.#ports;
    const now = clock.now();
    const settledMs = Math.max(reader.liveSinceMs ?? now, storeBackAtMs() ?? Number.NEGATIVE_INFINITY);
    if (now - settledMs < policy.settleMs) return [];
    const dead: DeadCandidate[] = [];
    for (let partition = 0; partition < reader.partitions; partition += 1) {
      for (const { candidates, key } of reader.stateOf(partition).leases.values()) {
        for (const candidate of candidates?.values() ?? []) {
          const expiredForMs = elapsedMs(candidate.renewal, now) - candidate.spec.validityMs;
          if (expiredForMs > policy.graceMs) dead.push({ lease: key, candidate, expiredForMs });
        }
      }
    }
    return dead;
  }

  async #collectCandidate(
    { candidate, expiredForMs, lease }: DeadCandidate,
    isDryRun: boolean,
    signal: AbortSignal,
  ): Promise<CollectionItem> {
    const { listener, policy, store } = this.#ports;
    const key = candidateKeyToWire(lease, candidate.name);
    const name = `${lease}/${candidate.name}`;
    let outcome: CollectionOutcome = CollectionOutcome.COLLECTED;
    if (!isDryRun) {
      const expectedRevision = candidate.revision.sequence;
      const expectedRenewalRevision = candidate.renewal.sequence;
      const reason = "collected: not renewed for its validity and the grace";
      const subject = { subject: { candidate: key }, isDependent: false, graceMs: policy.graceMs, reason };
      const collecting = store.collect({ ...subject, expectedRevision, expectedRenewalRevision }, this.#asking(signal));
      const isCollected = await collecting.catch((fault: unknown) => {
        listener.onFault("collect a candidate", fault);
        return false;
      });
      outcome = isCollected ? CollectionOutcome.COLLECTED : CollectionOutcome.SPARED;
      if (isCollected) listener.onCollected("candidate", name, expiredForMs - policy.graceMs);
      else listener.onSpared("candidate", name);
    }
    return {
      subject: { $case: "candidate", value: key },
      outcome,
      expiredFor: durationFromMs(Math.round(expiredForMs)),
    };
  }

  #asking(signal: AbortSignal): Asking {
    return { principal: this.#ports.principal, deadlineMs, signal };
  }

  /** Waits, at most for so long, until stirred. */
  async #pause(pauseMs: number, signal: AbortSignal): Promise<void> {
    const awake = new AbortController();
    const wake = () => awake.abort();
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    await this.#ports.clock.sleep(Math.max(10, pauseMs), awake.signal).catch(() => undefined);
    signal.removeEventListener("abort", wake);
  }
}

interface DeadCandidate {
  readonly lease: LeaseKey;
  readonly candidate: CandidateRecord;
  readonly expiredForMs: number;
}

function* chunksOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[], void, undefined> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

function noSuchHoldBack(asked: string, present: string): Fault {
  const now = present === "" ? "collection does not hold back" : `the present one is ${present}`;
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "COLLECTION_HELD_BACK",
    message: `hold-back ${asked} is over: ${now}`,
    details: { applied: "NO" },
  });
}

function notNow({ id, reason }: { readonly id: string; readonly reason: HoldBack }): Fault {
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "COLLECTION_HELD_BACK",
    message: `hold-back ${id} (${reason}) ends by itself when everybody has had time to beat: it cannot be let go on`,
    details: { applied: "NO" },
  });
}

function heldBack({ id, reason }: { readonly id: string; readonly reason: HoldBack }, state: CollectionState): Fault {
  const { dead, total } = state;
  return new Fault({
    code: "FAILED_PRECONDITION",
    reason: "COLLECTION_HELD_BACK",
    message: `collection holds back (${reason}): ${dead} of ${total} identities look dead; to go on, name hold-back ${id}`,
    details: { applied: "NO", attributes: { holdBackId: id, dead: String(dead), total: String(total) } },
  });
}
