import type { Command, Grant, Participant, RenewalResult } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import type { BelievedTerm, TermMode } from "../oracle/term-judge.ts";
import type { LeasePlan } from "../profile.ts";
import { timing } from "../store/timing.ts";
import { SendNumbers } from "./send-numbers.ts";
import type { StoreClient } from "./store-client.ts";

/** Told of what holders believe. */
export interface TermListener {
  onBegin(term: BelievedTerm): void;
  onExtend(term: BelievedTerm, deadlineMs: number): void;
}

/** How a holder is wrong on purpose, to show that the oracles see it. */
export interface HolderFlaws {
  /** Counts its deadline from the answer instead of from the send. */
  readonly countsFromAnswer?: boolean;
  /** Goes on acting after it has sent its release. */
  readonly actsAfterRelease?: boolean;
  /** Acts as soon as it is chosen, without waiting for its accept to be committed. */
  readonly actsWhenChosen?: boolean;
}

/** What one who holds is about. */
export interface HolderOptions {
  readonly client: StoreClient;
  readonly random: Random;
  readonly leases: readonly LeasePlan[];
  readonly listener: TermListener;
  readonly flaws: HolderFlaws;
  /** What it is to a migration lock; absent: it says nothing. */
  readonly participant?: () => Participant;
  /** Whether it goes on for as long as it may; absent: it returns when it likes. */
  readonly isSteady?: () => boolean;
  /** Durations that renewals ask for, in turn; absent ones keep what the term has. */
  readonly durationsMs: readonly (number | undefined)[];
  /** Goes on when it is asked to finish, as long as it may renew. */
  readonly isStubborn?: boolean;
}

/** One grant, and how its lease was claimed. */
export interface Granted {
  readonly grant: Grant;
  readonly mode: TermMode;
}

/**
 * How a holder lives through its terms, by rules 11 to 14 and 20: it counts its deadlines from the send instant of a
 * proven attempt, renews, writes guarded values while it acts, finishes when it is asked to, and releases only after its
 * function has returned.
 */
export class TermLife {
  readonly numbers: SendNumbers;
  readonly #options: HolderOptions;
  readonly #client: StoreClient;
  readonly #random: Random;
  #writes = 0;

  constructor(options: HolderOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#random = options.random;
    this.numbers = new SendNumbers(options.client.process);
  }

  /** Acts under terms that were granted together until the function returns, a deadline comes, or one of them is over. */
  async live(granted: readonly Granted[]): Promise<void> {
    const { process } = this.#client;
    const terms = granted.map(({ grant, mode }) => this.#believe(grant, mode));
    if (terms.every(({ deadlineMs }) => process.boot() < deadlineMs)) {
      for (const term of terms) this.#options.listener.onBegin(term);
      void this.#renew(terms);
      await this.#act(terms);
      const hasReturned = process.boot() < earliest(terms);
      // A last write that may arrive long after the release.
      if (hasReturned && this.#random.next() < 0.5) this.#write(terms);
      for (const term of terms) term.hasStopped = !(this.#options.flaws.actsAfterRelease ?? false);
      // A term that ended under a running function is left to expire, never released.
      if (!hasReturned) return;
    }
    await this.#release(granted.map(({ grant }) => grant));
  }

  #believe({ lease, sendNumber, token }: Grant, mode: TermMode): BelievedTerm {
    const { process } = this.#client;
    const deadlineMs = this.#deadlineOf(sendNumber);
    return { lease, token, mode, process, deadlineMs, hasStopped: false, isAskedToEnd: false };
  }

  async #act(terms: readonly BelievedTerm[]): Promise<void> {
    const { process } = this.#client;
    const tireMs = 100 + this.#random.next() * 2_000;
    const endMs = this.#options.isSteady?.() ? Number.POSITIVE_INFINITY : process.boot() + tireMs;
    const isOver = () => terms.some(({ hasStopped, isAskedToEnd }) => hasStopped || isAskedToEnd);
    while (!isOver() && process.boot() < Math.min(endMs, earliest(terms))) {
      if (this.#random.next() < 0.4) this.#write(terms);
      const stepMs = 40 + this.#random.next() * 120;
      await process.sleep(Math.max(1, Math.min(stepMs, earliest(terms) - process.boot())));
    }
  }

  async #renew(terms: readonly BelievedTerm[]): Promise<void> {
    const { process } = this.#client;
    const partition = this.#client.partitionOf(terms[0]?.lease ?? "");
    const isOver = () => terms.some(({ hasStopped }) => hasStopped) || process.boot() >= earliest(terms);
    while (!isOver()) {
      await process.sleep(timing.renewIntervalMs * (0.8 + 0.4 * this.#random.next()));
      if (isOver()) return;
      const sendNumber = this.numbers.next();
      const { durationsMs } = this.#options;
      const leaseDurationMs = durationsMs[Number(sendNumber) % durationsMs.length];
      const item = leaseDurationMs === undefined ? { sendNumber } : { sendNumber, leaseDurationMs };
      const items = terms.map(({ lease, token }) => ({ lease, token, ...item }));
      const command: Command = { kind: "renew", principal: this.#client.principal, items };
      const outcome = await this.#client.commandOnce(partition, command, timing.requestTimeoutMs);
      if (outcome.kind !== "answered" || outcome.value.reply.kind !== "renewals") continue;
      const { results } = outcome.value.reply;
      // A deadline that has passed is not revived: the holder has stopped by then.
      if (isOver()) return;
      if (!this.#learn(terms, results)) return;
    }
  }

  /** Takes what became of renewals; false when there is no use in renewing any more. */
  #learn(terms: readonly BelievedTerm[], results: readonly RenewalResult[]): boolean {
    for (const [index, term] of terms.entries()) {
      const result = results[index];
      // One that may not renew any more still has its term to its own deadline.
      if (result?.kind === "revoked" || result?.kind === "endOfTerm") return false;
      // It asked for a shorter term than it has: that it is not renewed by this is no reason to stop.
      if (result?.kind === "timingUnsafe") continue;
      if (result?.kind !== "renewed") {
        term.hasStopped = true;
        continue;
      }
      this.#options.listener.onExtend(term, this.#deadlineOf(result.sendNumber));
      // Some finish when they are asked to; the others are refused after the drain bound.
      if (result.isEnding && this.#random.next() < 0.5) term.isAskedToEnd = !this.#options.isStubborn;
    }
    return true;
  }

  /** Sends a guarded write and does not wait for it: it may arrive long after the term. */
  #write(terms: readonly BelievedTerm[]): void {
    const term = terms[this.#writes % terms.length];
    this.#writes += 1;
    if (term === undefined) return;
    const value = Buffer.from(`${this.#client.clientId}:${this.#writes}`);
    const { lease, token } = term;
    const attempt = this.#client.nextAttempt();
    const command: Command = {
      kind: "guard",
      principal: this.#client.principal,
      attempt: { ...attempt, settledBelow: 0n },
      lease,
      token,
      comparisons: [],
      changes: [{ key: "value", value: new Uint8Array(value) }],
    };
    void this.#client.change(this.#client.partitionOf(lease), 400, () => command);
  }

  async #release(grants: readonly Grant[]): Promise<void> {
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const items = grants.map(({ lease, token }) => ({ lease, token }));
    const command: Command = { kind: "release", principal: this.#client.principal, attempt, items };
    const partition = this.#client.partitionOf(items[0]?.lease ?? "");
    await this.#client.change(partition, timing.usableTermMs, () => command);
  }

  #deadlineOf(sendNumber: bigint): number {
    const { process } = this.#client;
    if (this.#options.flaws.countsFromAnswer ?? false) return process.boot() + timing.usableTermMs;
    return (this.numbers.sentAtMs(sendNumber) ?? Number.NEGATIVE_INFINITY) + timing.usableTermMs;
  }
}

/** When the first of several terms is over. */
function earliest(terms: readonly BelievedTerm[]): number {
  return Math.min(...terms.map(({ deadlineMs }) => deadlineMs));
}
