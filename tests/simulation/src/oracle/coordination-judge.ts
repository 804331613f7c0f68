import type { StoreServiceElectRequest, StoreServiceMarkEndOfTermRequest } from "@tenure/contracts";
import { type Event, existingLease, type PartitionState, partitionOf } from "@tenure/core";
import type { StoredBatch } from "@tenure/lease-store/replica";
import type { ElectionNode } from "../store/election-node.ts";
import { electionTiming } from "../store/timing.ts";
import { demand } from "./violation.ts";

/** One question to a candidate and where its answer stands in the log. */
interface Question {
  readonly number: bigint;
  readonly askedAt: bigint;
  answeredAt: bigint | undefined;
}

/**
 * Judges what replicas of the election service decide, each by its own sight of the log: nobody is elected while a term
 * runs (rule 18), nobody is elected or named to follow that has not answered (rule 19), and what takes effect was decided
 * on the record as it was (rule 6).
 */
export class CoordinationJudge {
  readonly #questions = new Map<string, Question[]>();
  readonly #uids = new Map<string, number>();
  /** What each decision was decided on. */
  readonly #decidedOn = new Map<string, bigint>();
  /** The revision of each lease before the batch that is judged; 0 while it does not exist. */
  readonly #revisions = new Map<string, bigint>();

  /** A replica asks to elect. */
  elects(node: ElectionNode, lease: string, request: StoreServiceElectRequest): void {
    const { candidate, decision, expectedRevision } = request;
    const { instance, reader } = node;
    const [hold] = reader.stateOf(partitionOf(lease, reader.partitions)).leases.get(lease)?.holds ?? [];
    const what = `${instance} elects ${candidate} for ${lease}`;
    demand(hold === undefined, "rule 18", () => `${what} and knows that ${hold?.holder} holds it`);
    this.#decidedOn.set(decision?.id ?? "", expectedRevision);
    this.#expectAnswered(node, lease, candidate, what);
  }

  /** A replica asks the holder to finish, or lets it go on. */
  marks(node: ElectionNode, lease: string, request: StoreServiceMarkEndOfTermRequest): void {
    const { decision, endOfTerm, expectedRevision } = request;
    if (endOfTerm === undefined) return;
    const { preferredHolder } = endOfTerm;
    this.#decidedOn.set(decision?.id ?? "", expectedRevision);
    const what = `${node.instance} ends the term of ${lease} for ${preferredHolder}`;
    if (preferredHolder !== "") this.#expectAnswered(node, lease, preferredHolder, what);
  }

  /** Takes one batch, with the state that it led to. */
  judge({ events, sequence }: StoredBatch, state: PartitionState): void {
    for (const event of events) {
      this.#note(event, sequence);
      if (event.kind === "holdPending") this.#expectDecided(event.lease, event.pending.decisionId, sequence);
      else if (event.kind === "endOfTermMarked") this.#expectDecided(event.lease, event.endOfTerm.decisionId, sequence);
    }
    for (const event of events) {
      if ("lease" in event) {
        this.#revisions.set(event.lease, existingLease(state, event.lease)?.revision.sequence ?? 0n);
      }
    }
  }

  #note(event: Event, sequence: bigint): void {
    switch (event.kind) {
      case "candidatePut": {
        const key = `${event.lease}#${event.candidate}`;
        // One that registers anew has answered nothing, for those who know that it did.
        if (this.#uids.get(key) !== event.uid) this.#ask(key, { number: 0n, askedAt: sequence, answeredAt: undefined });
        this.#uids.set(key, event.uid);
        return;
      }
      case "candidatesPinged":
        for (const { candidate, pingNumber: number } of event.questions) {
          this.#ask(`${event.lease}#${candidate}`, { number, askedAt: sequence, answeredAt: undefined });
        }
        return;
      case "candidateAnswered": {
        const questions = this.#questions.get(`${event.lease}#${event.candidate}`);
        const question = questions?.findLast(({ number }) => number === event.pingNumber);
        if (question !== undefined) question.answeredAt ??= sequence;
        return;
      }
      default:
        return;
    }
  }

  #ask(key: string, question: Question): void {
    const questions = this.#questions.get(key);
    if (questions === undefined) this.#questions.set(key, [question]);
    else questions.push(question);
  }

  /** It beat within the bound, or has answered the newest question that the replica knows of, and not long ago. */
  #expectAnswered(node: ElectionNode, lease: string, candidate: string, what: string): void {
    const now = node.process.now();
    const beatAtMs = node.beatAtMs(lease, candidate) ?? Number.NEGATIVE_INFINITY;
    if (now - beatAtMs <= electionTiming.liveBoundMs) return;
    const partition = partitionOf(lease, node.reader.partitions);
    const { lastSequence } = node.reader.stateOf(partition);
    const newest = this.#questions.get(`${lease}#${candidate}`)?.findLast(({ askedAt }) => askedAt <= lastSequence);
    const { answeredAt = lastSequence + 1n, askedAt = 0n, number = 0n } = newest ?? {};
    demand(answeredAt <= lastSequence, "rule 19", () => `${what}, which has not answered ping ${number}`);
    const answeredAtMs = node.sights.toldAtMs(partition, answeredAt) ?? Number.NEGATIVE_INFINITY;
    // A question may be known from what was loaded, and counts from then.
    const askedAtMs = node.sights.seenAtMs(partition, askedAt) ?? Number.NEGATIVE_INFINITY;
    const { answerBoundMs, roundSlackMs } = electionTiming;
    const isRecent = now - answeredAtMs <= answerBoundMs || now - askedAtMs <= answerBoundMs + roundSlackMs;
    const isWitnessed = answeredAtMs > (node.followedSinceMs ?? Number.POSITIVE_INFINITY);
    const ageMs = () => (now - answeredAtMs).toFixed(0);
    demand(isRecent && isWitnessed, "rule 19", () => `${what}, which answered ${ageMs()} ms ago or before it looked`);
  }

  /** What takes effect was decided on the record as it was right before. */
  #expectDecided(lease: string, decisionId: string, sequence: bigint): void {
    const expected = this.#decidedOn.get(decisionId);
    if (expected === undefined) return;
    const revision = this.#revisions.get(lease) ?? 0n;
    const what = () => `a decision on ${lease} at ${expected} took effect in batch ${sequence} after ${revision}`;
    demand(expected === revision, "rule 6", what);
  }
}
