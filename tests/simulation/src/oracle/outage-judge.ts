import type { StoredBatch } from "@tenure/lease-store/replica";
import { timing } from "../store/timing.ts";
import { demand } from "./violation.ts";
import { toleranceMs, type WriterSight } from "./writer-sight.ts";

/** How long nobody expires once the store is back: a holder needs it to get a renewal through. */
const pauseMs = timing.renewIntervalMs + timing.requestTimeoutMs + 1_000;

/** One owner's outage. */
export interface Outage {
  readonly instance: string;
  readonly partition: number;
  readonly epoch: bigint;
  /** When it began, on the owner's clock. */
  readonly sinceMs: number;
}

/** Sees to it that an outage of the store expires nobody who could not renew (rule 17). */
export class OutageJudge {
  readonly #sight: WriterSight;
  #outages: Outage[] = [];

  constructor(sight: WriterSight) {
    this.#sight = sight;
  }

  /** An owner lost its connection to the log. */
  note(outage: Outage): void {
    this.#outages.push(outage);
  }

  /** An ownership is over; the next one, though it may try for the same epoch, knows nothing of its outages. */
  forget(instance: string, partition: number): void {
    this.#outages = this.#outages.filter((outage) => outage.instance !== instance || outage.partition !== partition);
  }

  /** Nobody is expired between the loss and the end of the pause after the first append that was acknowledged again. */
  expectAllowed(batch: StoredBatch, what: string): void {
    const decidedAtMs = this.#sight.decidedAtMs(batch);
    for (const { epoch, instance, partition, sinceMs } of this.#outages) {
      const isThis = instance === batch.writer && partition === batch.partition && epoch === batch.epoch;
      if (!isThis || decidedAtMs <= sinceMs) continue;
      const backAtMs = this.#sight.ackedAfterMs(batch, sinceMs);
      const isPassed = decidedAtMs + toleranceMs >= backAtMs + pauseMs;
      const agoMs = (decidedAtMs - backAtMs).toFixed(1);
      demand(isPassed, "rule 17", () => `${what} ${agoMs} ms after the end of an outage, not ${pauseMs}`);
    }
    const isFresh = decidedAtMs - this.#sight.ackedAtMs(batch) <= 1_000;
    demand(isFresh, "rule 17", () => `${what} without an append acknowledged lately`);
  }
}
