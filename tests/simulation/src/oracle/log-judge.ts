import type { Event, HoldFacts } from "@tenure/core";
import type { StoredBatch } from "@tenure/lease-store/replica";
import type { ReplicaNode } from "../store/replica-node.ts";
import { demand } from "./violation.ts";

interface Term {
  readonly lease: string;
  readonly hold: HoldFacts;
  /** The batch of the last renewal, or of the grant. */
  renewal: StoredBatch;
}

/** A line of a lease's history, as far as it is compared. */
export interface Line {
  readonly kind: "granted" | "ended";
  readonly holder: string;
  readonly token: bigint;
  readonly cause: string;
}

/** The author of what time brings about. */
const noAuthor = "";

/** Floating point sums of durations may miss by this much. */
const tolerance = 1e-6;

/**
 * Judges the events of the logs by itself, knowing nothing of how they were decided: tokens, terms, early expiry, past
 * writers and repeated attempts (I3, I6, I7, I8, I12, rule 4).
 */
export class LogJudge {
  readonly #nodeOf: (instance: string) => ReplicaNode | undefined;
  readonly #terms = new Map<string, Term>();
  readonly #newestToken = new Map<string, bigint>();
  readonly #attempts = new Set<string>();
  readonly #claims = new Set<string>();
  readonly #values = new Set<string>();
  readonly #lines = new Map<string, Line[]>();
  readonly #activeAtMs = new Map<string, number>();

  constructor(nodeOf: (instance: string) => ReplicaNode | undefined) {
    this.#nodeOf = nodeOf;
  }

  /** What happened to a lease, from its beginning. */
  linesOf(lease: string): readonly Line[] {
    return this.#lines.get(lease) ?? [];
  }

  /** When a lease was last granted or renewed, on the true clock. */
  activeAtMs(lease: string): number {
    return this.#activeAtMs.get(lease) ?? 0;
  }

  hasAttempt(client: string, number: bigint): boolean {
    return this.#attempts.has(`${client}#${number}`);
  }

  /** Takes one batch, right when it was applied to the log. */
  judge(batch: StoredBatch, nowMs: number): void {
    const begun = new Set<string>();
    // Renewals are kept apart from the other events of a batch. They come first: a term may be renewed and then end.
    const renewals = batch.events.filter(({ kind }) => kind === "renewed");
    const others = batch.events.filter(({ kind }) => kind !== "renewed");
    for (const event of [...renewals, ...others]) this.#judgeEvent(batch, event, begun, nowMs);
  }

  #judgeEvent(batch: StoredBatch, event: Event, begun: Set<string>, nowMs: number): void {
    switch (event.kind) {
      case "holdGranted":
        this.#grant(batch, event.lease, event.hold, begun);
        this.#activeAtMs.set(event.lease, nowMs);
        return;
      case "renewed":
        for (const id of event.holdIds) this.#renew(batch, id, event.author, nowMs);
        return;
      case "holdChanged":
        this.#renew(batch, event.holdId, event.author, nowMs);
        return;
      case "holdEnded":
        this.#end(batch, event);
        return;
      case "guardChanged":
        this.#guard(event);
        return;
      case "tombstoneRemoved":
        this.#lines.delete(event.lease);
        return;
      case "attemptRecorded":
        this.#record(event.client, event.number);
        return;
      default:
        return;
    }
  }

  #grant(batch: StoredBatch, lease: string, hold: HoldFacts, begun: Set<string>): void {
    const newest = this.#newestToken.get(lease) ?? 0n;
    demand(hold.token > newest, "I3", () => `token ${hold.token} of ${lease} is not above ${newest}`);
    demand(!begun.has(lease), "rule 5", () => `${lease} got a second term in batch ${batch.sequence}`);
    begun.add(lease);
    this.#newestToken.set(lease, hold.token);
    for (const term of this.#terms.values()) {
      const isExcluded = term.lease === lease && (hold.mode === "exclusive" || term.hold.mode === "exclusive");
      demand(!isExcluded, "I4", () => `${lease} is given to ${hold.holder} while ${term.hold.holder} holds it`);
    }
    demand(!this.#claims.has(hold.holderKey), "rule 4", () => `claim ${hold.holderKey} was granted twice`);
    this.#claims.add(hold.holderKey);
    this.#terms.set(`${batch.partition}/${hold.id}`, { lease, hold, renewal: batch });
    this.#write(lease, { kind: "granted", holder: hold.holder, token: hold.token, cause: hold.origin });
  }

  #renew(batch: StoredBatch, id: number, author: string, nowMs: number): void {
    const term = this.#terms.get(`${batch.partition}/${id}`);
    demand(term !== undefined, "I12", () => `hold ${id} is renewed in batch ${batch.sequence} and does not run`);
    // The log does not say who caused a plain renewal.
    const isOwn = author === noAuthor || author === term.hold.principal;
    demand(isOwn, "I12", () => `${author} renewed the hold of ${term.hold.principal}`);
    term.renewal = batch;
    this.#activeAtMs.set(term.lease, nowMs);
  }

  #end(batch: StoredBatch, event: Extract<Event, { kind: "holdEnded" }>): void {
    const key = `${batch.partition}/${event.holdId}`;
    const term = this.#terms.get(key);
    demand(term !== undefined, "I12", () => `hold ${event.holdId} of ${event.lease} ended and does not run`);
    demand(
      term.hold.token === event.token,
      "I12",
      () => `${event.lease}: the end of token ${event.token} ended another`,
    );
    if (event.author === noAuthor) this.#expectOverdue(batch, term);
    else
      demand(
        event.author === term.hold.principal,
        "I12",
        () => `${event.author} ended the term of ${term.hold.holder}`,
      );
    this.#terms.delete(key);
    this.#write(term.lease, { kind: "ended", holder: term.hold.holder, token: event.token, cause: event.endReason });
  }

  /** The writer waited for L on its own clock from its own first sight of the last renewal (I7, I8). */
  #expectOverdue({ batchId, partition, sequence, writer }: StoredBatch, { hold, lease, renewal }: Term): void {
    const sights = this.#nodeOf(writer)?.sights;
    const decidedAtMs = sights?.sentAtMs(batchId) ?? Number.NaN;
    // What it wrote itself it knew when it sent it.
    const seenAtMs = sights?.sentAtMs(renewal.batchId) ?? sights?.seenAtMs(partition, renewal.sequence) ?? Number.NaN;
    const waitedMs = decidedAtMs - seenAtMs;
    const isOverdue = waitedMs + tolerance >= hold.leaseDurationMs;
    const what = `${lease} of ${hold.holder} (token ${hold.token}) was ended in batch ${sequence} by ${writer}`;
    demand(isOverdue, "I7", () => `${what}, ${waitedMs} ms after it saw the renewal, not ${hold.leaseDurationMs}`);
    const ackedAtMs = sights?.ackedAtMs(partition) ?? Number.NEGATIVE_INFINITY;
    demand(decidedAtMs - ackedAtMs <= 1_000, "rule 17", () => `${what} without an append acknowledged lately`);
  }

  #guard({ author, changes, lease, token }: Extract<Event, { kind: "guardChanged" }>): void {
    const newest = this.#newestToken.get(lease) ?? 0n;
    demand(token === newest, "I6", () => `${lease} took a write with token ${token} after ${newest} was given`);
    const writer = [...this.#terms.values()].find((term) => term.lease === lease && term.hold.token === token);
    demand(writer !== undefined, "I6", () => `${lease} took a write with token ${token}, whose term is over`);
    demand(writer.hold.principal === author, "I6", () => `${author} wrote as the holder of ${lease}`);
    for (const { value } of changes) {
      const text = value === undefined ? "" : Buffer.from(value).toString();
      demand(!this.#values.has(text), "rule 4", () => `the write ${text} of ${lease} was applied twice`);
      if (text !== "") this.#values.add(text);
    }
  }

  #record(client: string, number: bigint): void {
    const key = `${client}#${number}`;
    demand(!this.#attempts.has(key), "rule 4", () => `attempt ${JSON.stringify(key)} was recorded twice`);
    this.#attempts.add(key);
  }

  #write(lease: string, line: Line): void {
    const lines = this.#lines.get(lease);
    if (lines === undefined) this.#lines.set(lease, [line]);
    else lines.push(line);
  }
}
