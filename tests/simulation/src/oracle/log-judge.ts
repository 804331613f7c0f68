import type { Event, HoldFacts, LeaseSpec } from "@tenure/core";
import type { StoredBatch } from "@tenure/lease-store/replica";
import type { ReplicaNode } from "../store/replica-node.ts";
import { ElectionJudge } from "./election-judge.ts";
import { MercyJudge } from "./mercy-judge.ts";
import { type Outage, OutageJudge } from "./outage-judge.ts";
import { demand } from "./violation.ts";
import { WriterSight } from "./writer-sight.ts";

/** A term that runs by the log. */
export interface Term {
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

/**
 * Judges the events of the logs by itself, knowing nothing of how they were decided: tokens, terms, early expiry, past
 * writers and repeated attempts (I3, I4, I6, I7, I8, I12, rules 1 and 4).
 */
export class LogJudge {
  readonly #sight: WriterSight;
  readonly #elections: ElectionJudge;
  readonly #mercy: MercyJudge;
  readonly #outages: OutageJudge;
  readonly #terms = new Map<string, Term>();
  readonly #specs = new Map<string, LeaseSpec>();
  readonly #newestToken = new Map<string, bigint>();
  readonly #chosen = new Set<string>();
  readonly #attempts = new Set<string>();
  readonly #claims = new Set<string>();
  readonly #granted = new Set<string>();
  readonly #values = new Set<string>();
  readonly #lines = new Map<string, Line[]>();
  readonly #activeAtMs = new Map<string, number>();

  constructor(nodeOf: (instance: string) => ReplicaNode | undefined) {
    this.#sight = new WriterSight(nodeOf);
    this.#elections = new ElectionJudge(this.#sight);
    this.#mercy = new MercyJudge(this.#sight);
    this.#outages = new OutageJudge(this.#sight);
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

  /** Whether the log has given a term of a lease to a principal. */
  hasGranted(lease: string, token: bigint, principal: string): boolean {
    return this.#granted.has(`${lease}#${token}#${principal}`);
  }

  /** An owner lost its connection to the log. */
  noteOutage(outage: Outage): void {
    this.#outages.note(outage);
  }

  /** An owner's ownership of a partition is over. */
  noteOwnershipEnded(instance: string, partition: number): void {
    this.#outages.forget(instance, partition);
  }

  /** Takes one batch, right when it was applied to the log. */
  judge(batch: StoredBatch, nowMs: number): void {
    const begun = new Set<string>();
    this.#outages.noteOwner(batch);
    // Renewals are kept apart from the other events of a batch. They come first: a term may be renewed and then end.
    const renewals = batch.events.filter(({ kind }) => kind === "renewed");
    const others = batch.events.filter(({ kind }) => kind !== "renewed");
    for (const event of [...renewals, ...others]) {
      if ("lease" in event) this.#mercy.judge(batch, event, this.#runningOn(event.lease));
      this.#elections.judge(batch, event);
      this.#judgeEvent(batch, event, begun, nowMs);
    }
    this.#expectWhole(batch);
  }

  #judgeEvent(batch: StoredBatch, event: Event, begun: Set<string>, nowMs: number): void {
    switch (event.kind) {
      case "holdGranted":
        this.#grant(batch, event.lease, event.hold, begun);
        this.#activeAtMs.set(event.lease, nowMs);
        return;
      case "holdPending":
        this.#expectFree(event.lease, event.pending.candidate);
        this.#give(event.lease, event.pending.token);
        this.#chosen.add(`${event.lease}#${event.pending.token}`);
        return;
      case "pendingLapsed":
        this.#write(event.lease, {
          kind: "ended",
          holder: event.candidate,
          token: event.token,
          cause: "notAccepted",
        });
        return;
      case "leaseCreated":
      case "leaseUpdated":
        this.#specs.set(event.lease, event.spec);
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
    // The token of an elected term was given when it was chosen.
    if (!this.#chosen.delete(`${lease}#${hold.token}`)) this.#give(lease, hold.token);
    demand(!begun.has(lease), "rule 5", () => `${lease} got a second term in batch ${batch.sequence}`);
    begun.add(lease);
    this.#expectRoom(lease, hold);
    const claim = `${lease} ${hold.holderKey}`;
    demand(!this.#claims.has(claim), "rule 4", () => `claim ${claim} was granted twice`);
    this.#claims.add(claim);
    this.#granted.add(`${lease}#${hold.token}#${hold.principal}`);
    this.#terms.set(`${batch.partition}/${hold.id}`, { lease, hold, renewal: batch });
    this.#write(lease, { kind: "granted", holder: hold.holder, token: hold.token, cause: hold.origin });
  }

  #give(lease: string, token: bigint): void {
    const newest = this.#newestToken.get(lease) ?? 0n;
    demand(token > newest, "I3", () => `token ${token} of ${lease} is not above ${newest}`);
    this.#newestToken.set(lease, token);
  }

  /** By the log, exclusive terms are alone and counted ones fit into the capacity (I4). */
  #expectRoom(lease: string, hold: HoldFacts): void {
    const running = this.#runningOn(lease);
    for (const term of running) {
      const isExcluded = hold.mode === "exclusive" || term.hold.mode === "exclusive";
      demand(!isExcluded, "I4", () => `${lease} is given to ${hold.holder} while ${term.hold.holder} holds it`);
    }
    if (hold.mode !== "counted") return;
    const units = running.reduce((sum, term) => sum + term.hold.units, hold.units);
    const capacity = this.#specs.get(lease)?.capacity ?? 0;
    demand(units <= capacity, "I4", () => `${lease} is given away to ${units} units of ${capacity}`);
  }

  /** Nobody is chosen while a term runs (rule 18). */
  #expectFree(lease: string, candidate: string): void {
    const [running] = this.#runningOn(lease);
    const what = () => `${candidate} was chosen for ${lease} while ${running?.hold.holder} holds it`;
    demand(running === undefined, "rule 18", what);
  }

  /** What was claimed together is granted together or not at all (rule 1). */
  #expectWhole({ events, sequence }: StoredBatch): void {
    const counts = new Map<string, number>();
    for (const event of events) {
      if (event.kind !== "holdGranted") continue;
      counts.set(event.hold.holderKey, (counts.get(event.hold.holderKey) ?? 0) + 1);
    }
    for (const [claim, count] of counts) {
      const wanted = Number(claim.split("/").at(-1));
      demand(count === wanted, "rule 1", () => `claim ${claim} got ${count} leases in batch ${sequence}`);
    }
  }

  #runningOn(lease: string): readonly Term[] {
    return [...this.#terms.values()].filter((term) => term.lease === lease);
  }

  #renew(batch: StoredBatch, id: number, author: string, nowMs: number): void {
    const term = this.#terms.get(`${batch.partition}/${id}`);
    demand(term !== undefined, "I12", () => `hold ${id} is renewed in batch ${batch.sequence} and does not run`);
    // The log does not say who caused a plain renewal.
    const isOwn = author === noAuthor || author === term.hold.principal;
    demand(isOwn, "I12", () => `${author} renewed the hold of ${term.hold.principal}`);
    this.#mercy.renewed(batch, term);
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
  #expectOverdue(batch: StoredBatch, { hold, lease, renewal }: Term): void {
    const waitedMs = this.#sight.mostMs(batch, renewal);
    const what = `${lease} of ${hold.holder} (token ${hold.token}) was ended in batch ${batch.sequence} by ${batch.writer}`;
    const wanted = hold.leaseDurationMs;
    demand(waitedMs >= wanted, "I7", () => `${what}, ${waitedMs} ms after it saw the renewal, not ${wanted}`);
    this.#outages.expectAllowed(batch, what);
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
