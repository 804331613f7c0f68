import { type Command, clientKey, type Grant, waiterId } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import type { BelievedTerm } from "../oracle/term-judge.ts";
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
}

/** What a holder is about. */
export interface HolderOptions {
  readonly client: StoreClient;
  readonly random: Random;
  readonly leases: readonly string[];
  readonly listener: TermListener;
  readonly flaws: HolderFlaws;
}

/**
 * A small holder that lives by rules 11 to 14: claims, waits with beats, counts its deadline from the send instant of a
 * proven attempt, renews, writes guarded values while it acts, and releases only after its function has returned.
 */
export class Holder {
  readonly #options: HolderOptions;
  readonly #client: StoreClient;
  readonly #random: Random;
  readonly #numbers: SendNumbers;
  #claims = 0;
  #writes = 0;
  /** The lease that it waits for, and since when on the true clock's own process time. */
  waiting: { readonly lease: string; readonly sinceBootMs: number } | undefined;

  constructor(options: HolderOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#random = options.random;
    this.#numbers = new SendNumbers(options.client.process);
  }

  /** Claims and holds for as long as its process lives. */
  async run(): Promise<void> {
    const { process } = this.#client;
    for (;;) {
      await process.sleep(this.#random.next() < 0.3 ? 1 : this.#random.next() * 150);
      const lease = this.#options.leases[Math.floor(this.#random.next() * this.#options.leases.length)] ?? "";
      const grant = this.#random.next() < 0.7 ? await this.#wait(lease) : await this.#try(lease);
      if (grant !== undefined) await this.#hold(grant);
    }
  }

  /** Claims without waiting. Given up, the claim may still be granted: then nobody acts on it. */
  async #try(lease: string): Promise<Grant | undefined> {
    const claim = this.#claimOf(lease);
    const answer = await this.#client.change(this.#client.partitionOf(lease), 2 * timing.requestTimeoutMs, () =>
      claim(this.#numbers.next(), undefined),
    );
    return answer?.reply.kind === "granted" ? answer.reply.grants[0] : undefined;
  }

  /** Waits in the queue with beats, sends the wait again to whoever owns the partition, and goes away at last. */
  async #wait(lease: string): Promise<Grant | undefined> {
    const { process } = this.#client;
    const partition = this.#client.partitionOf(lease);
    const claim = this.#claimOf(lease);
    const beginMs = process.boot();
    const patienceMs = 600 + this.#random.next() * 6_000;
    const id = waiterId(clientKey(this.#client.principal, this.#client.clientId), claim.attemptNumber);
    this.waiting = { lease, sinceBootMs: beginMs };
    const abandon: (() => void)[] = [];
    let grant: Grant | undefined;
    let isOver = false;
    let isOpen = false;
    while (!isOver && process.boot() - beginMs < patienceMs) {
      if (!isOpen) {
        isOpen = true;
        const command = claim(this.#numbers.next(), process.boot() - beginMs);
        abandon.push(
          this.#client.openWait(partition, command, (answer) => {
            if (answer.kind === "failed") isOpen = false;
            else {
              isOver = true;
              if (answer.value.reply.kind === "granted") grant ??= answer.value.reply.grants[0];
            }
          }),
        );
      }
      await process.sleep(Math.min(timing.renewIntervalMs / 4, 25));
      if (!isOver && this.#isBeatDue(beginMs)) {
        this.#client.beat(partition, id, this.#numbers.next(), () => {
          isOpen = false;
        });
      }
    }
    if (!isOver) for (const leave of abandon) leave();
    this.waiting = undefined;
    return grant;
  }

  #beatAtMs = 0;

  #isBeatDue(beginMs: number): boolean {
    const now = this.#client.process.boot();
    if (now - Math.max(this.#beatAtMs, beginMs) < timing.renewIntervalMs) return false;
    this.#beatAtMs = now;
    return true;
  }

  /** Acts under a term until its function returns, its deadline comes, or it is told that the term is over. */
  async #hold(grant: Grant): Promise<void> {
    const { process } = this.#client;
    const deadlineMs = this.#deadlineOf(grant.sendNumber);
    if (process.boot() < deadlineMs) {
      const term: BelievedTerm = { lease: grant.lease, token: grant.token, process, deadlineMs, hasStopped: false };
      this.#options.listener.onBegin(term);
      void this.#renew(term);
      await this.#act(term);
      const hasReturned = process.boot() < term.deadlineMs;
      // A last write that may arrive long after the release.
      if (hasReturned && this.#random.next() < 0.5) this.#write(term);
      term.hasStopped = !(this.#options.flaws.actsAfterRelease ?? false);
      // A term that ended under a running function is left to expire, never released.
      if (!hasReturned) return;
    }
    await this.#release(grant);
  }

  async #act(term: BelievedTerm): Promise<void> {
    const { process } = this.#client;
    const endMs = process.boot() + 100 + this.#random.next() * 2_000;
    while (!term.hasStopped && process.boot() < Math.min(endMs, term.deadlineMs)) {
      if (this.#random.next() < 0.4) this.#write(term);
      const stepMs = 40 + this.#random.next() * 120;
      await process.sleep(Math.max(1, Math.min(stepMs, term.deadlineMs - process.boot())));
    }
  }

  async #renew(term: BelievedTerm): Promise<void> {
    const { process } = this.#client;
    const partition = this.#client.partitionOf(term.lease);
    while (!term.hasStopped && process.boot() < term.deadlineMs) {
      await process.sleep(timing.renewIntervalMs * (0.8 + 0.4 * this.#random.next()));
      if (term.hasStopped || process.boot() >= term.deadlineMs) return;
      const sendNumber = this.#numbers.next();
      const items = [{ lease: term.lease, token: term.token, sendNumber }];
      const command: Command = { kind: "renew", principal: this.#client.principal, items };
      const outcome = await this.#client.commandOnce(partition, command, timing.requestTimeoutMs);
      if (outcome.kind !== "answered" || outcome.value.reply.kind !== "renewals") continue;
      const result = outcome.value.reply.results[0];
      // A deadline that has passed is not revived: the holder has stopped by then.
      if (term.hasStopped || process.boot() >= term.deadlineMs) return;
      if (result?.kind === "renewed") this.#options.listener.onExtend(term, this.#deadlineOf(result.sendNumber));
      else term.hasStopped = true;
    }
  }

  /** Sends a guarded write and does not wait for it: it may arrive long after the term. */
  #write(term: BelievedTerm): void {
    this.#writes += 1;
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

  async #release({ lease, token }: Grant): Promise<void> {
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const command: Command = { kind: "release", principal: this.#client.principal, attempt, items: [{ lease, token }] };
    await this.#client.change(this.#client.partitionOf(lease), timing.usableTermMs, () => command);
  }

  #deadlineOf(sendNumber: bigint): number {
    const { process } = this.#client;
    if (this.#options.flaws.countsFromAnswer ?? false) return process.boot() + timing.usableTermMs;
    return (this.#numbers.sentAtMs(sendNumber) ?? Number.NEGATIVE_INFINITY) + timing.usableTermMs;
  }

  #claimOf(lease: string) {
    this.#claims += 1;
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const claimant = {
      holder: this.#client.principal,
      holderKey: `${this.#client.clientId}:${this.#claims}`,
      timing,
    };
    const make = (sendNumber: bigint, ageMs: number | undefined): Command => ({
      kind: "acquire",
      principal: this.#client.principal,
      attempt,
      claims: [{ lease, mode: "exclusive", units: 1 }],
      claimant,
      sendNumber,
      ...(ageMs === undefined ? undefined : { wait: { timeoutMs: undefined, ageMs, beatNumber: sendNumber } }),
    });
    return Object.assign(make, { attemptNumber: attempt.number });
  }
}
