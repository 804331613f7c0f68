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
  /** To whom each partition was handed over in order: with nothing owed to holders. */
  readonly #heirs = new Map<number, string>();
  readonly #owned = new Set<number>();

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

  /**
   * A batch begins an epoch or ends one. Whoever takes over what was not handed to it cannot know since when nobody could
   * renew; and an owner that hands over before holders had their time leaves that to its successor.
   */
  noteOwner(batch: StoredBatch): void {
    const { epoch, events, partition, writer: instance } = batch;
    if (events[0]?.kind === "ownerChanged") {
      const isInOrder = this.#heirs.get(partition) === instance || !this.#owned.has(partition);
      this.#heirs.delete(partition);
      this.#owned.add(partition);
      if (!isInOrder) this.note({ instance, partition, epoch, sinceMs: this.#sight.decidedAtMs(batch) });
    }
    // Renewals of the same batch are written after it.
    const end = events.find(({ kind }) => kind === "ownerHandedOver");
    if (end?.kind === "ownerHandedOver" && !this.#isOwed(batch)) this.#heirs.set(partition, end.successor);
  }

  #isOwed(batch: StoredBatch): boolean {
    const decidedAtMs = this.#sight.decidedAtMs(batch);
    return this.#outagesOf(batch).some(
      ({ sinceMs }) =>
        decidedAtMs > sinceMs && decidedAtMs + toleranceMs < this.#sight.ackedAfterMs(batch, sinceMs) + pauseMs,
    );
  }

  #outagesOf({ epoch, partition, writer }: StoredBatch): readonly Outage[] {
    return this.#outages.filter(
      (outage) => outage.instance === writer && outage.partition === partition && outage.epoch === epoch,
    );
  }

  /** Nobody is expired between the loss and the end of the pause after the first append that was acknowledged again. */
  expectAllowed(batch: StoredBatch, what: string): void {
    const decidedAtMs = this.#sight.decidedAtMs(batch);
    for (const { sinceMs } of this.#outagesOf(batch)) {
      if (decidedAtMs <= sinceMs) continue;
      const backAtMs = this.#sight.ackedAfterMs(batch, sinceMs);
      const isPassed = decidedAtMs + toleranceMs >= backAtMs + pauseMs;
      const agoMs = (decidedAtMs - backAtMs).toFixed(1);
      demand(isPassed, "rule 17", () => `${what} ${agoMs} ms after the end of an outage, not ${pauseMs}`);
    }
    const isFresh = decidedAtMs - this.#sight.ackedAtMs(batch) <= 1_000;
    demand(isFresh, "rule 17", () => `${what} without an append acknowledged lately`);
  }
}
