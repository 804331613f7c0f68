import {
  decodeRenewals,
  encodeRenewals,
  faultFromFailure,
  type PackedRefusal,
  type RenewalGroup,
  type SessionPush,
} from "@tenure/contracts";
import type { Clock, Random } from "@tenure/kernel";
import { errorFromFault, TenureError } from "../errors.ts";
import type { Keeping, KeepListener, KeptHold } from "../session/session.ts";
import { Cohort } from "./cohort.ts";
import { HoldBook } from "./hold-book.ts";
import type { Keeper } from "./keeper.ts";
import { KeptEntry } from "./kept-entry.ts";

/** The session that carries the renewals. */
export interface RenewalPort {
  readonly clock: Clock;
  readonly random: Random;
  /** Why nothing can be sent at present; undefined if it can. */
  obstacle(): TenureError | undefined;
  flushSoon(): void;
  /** The instant of a send number. */
  instantOf(sendNumber: number): number;
}

/** Codes of refusals after which the store may well renew: nothing is known of the term from them. */
const passingCodes: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "RESOURCE_EXHAUSTED",
  "DEADLINE_EXCEEDED",
  "CANCELLED",
  "INTERNAL",
  "UNKNOWN",
  "ABORTED",
]);

/** What fits into one message of a server with the usual limit of 1 MiB, with room for calls beside it. */
const maxKeptHolds = 100_000;

/**
 * Renews terms on the session of this thread. Costs per message and interval, not per hold: holds with the same interval
 * share a timer and travel in one packed field. A term is proven only by what the store committed, from the instant of
 * the very send that it names.
 */
export class InlineKeeper implements Keeper {
  readonly #port: RenewalPort;
  readonly #cohorts = new Map<string, Cohort>();
  readonly #byHold = new Map<number, Map<number, KeptEntry>>();
  readonly #book = new HoldBook<KeptEntry>();
  #size = 0;
  #lastNumber = 0;

  constructor(port: RenewalPort) {
    this.#port = port;
  }

  get size(): number {
    return this.#size;
  }

  keep(hold: KeptHold, listener: KeepListener): Keeping {
    this.#stop(this.#find(hold.partition, Number(hold.holdId)));
    if (this.#size >= maxKeptHolds) throw tooMany();
    const entry = new KeptEntry(hold, listener, this.#cohortOf(hold));
    this.#start(entry);
    return {
      get provenAtMs() {
        return entry.provenAtMs;
      },
      renewNow: () => this.#isKept(entry) && entry.cohort.renewNow(),
      stopRenewing: () => this.#stop(entry),
      [Symbol.dispose]: () => this.#stop(entry),
    };
  }

  /** The term behind a hold that is kept. */
  termOf(partition: number, holdId: number): KeptHold | undefined {
    return this.#find(partition, holdId)?.hold;
  }

  /** Whether the next message should carry renewals. */
  get isDue(): boolean {
    for (const { isDue } of this.#cohorts.values()) if (isDue) return true;
    return false;
  }

  /** The renewals that are due, for the message with this number. */
  take(sendNumber: number): Uint8Array {
    const groups: RenewalGroup[] = [];
    for (const cohort of this.#cohorts.values()) if (cohort.isDue) groups.push(...cohort.take(sendNumber));
    this.#lastNumber = sendNumber;
    return encodeRenewals(groups);
  }

  /** The store committed these. */
  onAcks(acks: Uint8Array): void {
    for (const { partition, sendNumber, holdIds } of decodeRenewals(acks)) {
      // A number that was never sent proves nothing.
      if (sendNumber > this.#lastNumber) continue;
      const sentAtMs = this.#port.instantOf(sendNumber);
      for (const cohort of this.#cohorts.values()) {
        for (const entry of cohort.among(partition, holdIds)) this.#onRenewed(entry, sendNumber, sentAtMs);
      }
    }
  }

  /** The store, or someone on the way to it, refused these. */
  onRefusals(refusals: readonly PackedRefusal[]): void {
    for (const { partition, holdId, sendNumber, failure } of refusals) {
      const entry = this.#find(partition, Number(holdId));
      if (entry === undefined || failure === undefined || Number(sendNumber) < entry.answeredNumber) continue;
      entry.answeredNumber = Number(sendNumber);
      this.#onRefused(entry, errorFromFault(faultFromFailure(failure)));
    }
  }

  /** Nothing stands in the way any more: what may have been missed is renewed at once. */
  renewAll(): void {
    for (const cohort of this.#cohorts.values()) cohort.renewNow();
  }

  onPush(push: SessionPush): void {
    this.#book.onPush(push);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cohort of this.#cohorts.values()) cohort.stop();
    this.#cohorts.clear();
    this.#byHold.clear();
    this.#size = 0;
  }

  #onRenewed(entry: KeptEntry, sendNumber: number, sentAtMs: number): void {
    if (sendNumber > entry.answeredNumber) entry.answeredNumber = sendNumber;
    if (entry.isStopped || sentAtMs <= entry.provenAtMs) return;
    entry.provenAtMs = sentAtMs;
    entry.listener.onRenewed(sentAtMs);
  }

  #onRefused(entry: KeptEntry, error: TenureError): void {
    if (passingCodes.has(error.code)) {
      // Jittered, so that the clients of a partition that changed its owner do not all come back at one instant.
      entry.cohort.renewWithin((entry.cohort.intervalMs / 4) * (0.5 + this.#port.random.next() / 2));
      entry.listener.onMissed(error);
      return;
    }
    this.#stop(entry);
    entry.listener.onRefused(error);
  }

  #cohortOf({ renewIntervalMs, requestTimeoutMs }: KeptHold): Cohort {
    const key = `${renewIntervalMs}/${requestTimeoutMs}`;
    let cohort = this.#cohorts.get(key);
    if (cohort === undefined) {
      const { clock } = this.#port;
      cohort = new Cohort(renewIntervalMs, requestTimeoutMs, {
        clock,
        obstacle: () => this.#port.obstacle(),
        onDue: () => this.#port.flushSoon(),
      });
      this.#cohorts.set(key, cohort);
    }
    return cohort;
  }

  #start(entry: KeptEntry): void {
    const { partition } = entry.hold;
    const entries = this.#byHold.get(partition);
    if (entries === undefined) this.#byHold.set(partition, new Map([[entry.holdId, entry]]));
    else entries.set(entry.holdId, entry);
    entry.cohort.add(entry);
    this.#book.add(entry);
    this.#size += 1;
  }

  #stop(entry: KeptEntry | undefined): void {
    if (entry === undefined || !this.#isKept(entry)) return;
    entry.isStopped = true;
    this.#byHold.get(entry.hold.partition)?.delete(entry.holdId);
    this.#book.delete(entry);
    this.#size -= 1;
    const { cohort } = entry;
    cohort.delete(entry);
    if (!cohort.isEmpty) return;
    cohort.stop();
    this.#cohorts.delete(`${cohort.intervalMs}/${cohort.requestTimeoutMs}`);
  }

  #isKept(entry: KeptEntry): boolean {
    return this.#find(entry.hold.partition, entry.holdId) === entry;
  }

  #find(partition: number, holdId: number): KeptEntry | undefined {
    return this.#byHold.get(partition)?.get(holdId);
  }
}

function tooMany(): TenureError {
  return new TenureError({
    code: "RESOURCE_EXHAUSTED",
    reason: "LIMIT_EXCEEDED",
    message: `a session renews at most ${maxKeptHolds} holds: open another for more`,
    retryable: false,
  });
}
