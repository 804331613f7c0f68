import type { Event, HoldFacts, PendingHold } from "@tenure/core";
import type { StoredBatch } from "@tenure/lease-store/replica";
import { demand } from "./violation.ts";
import type { WriterSight } from "./writer-sight.ts";

interface Choice {
  readonly pending: PendingHold;
  readonly batch: StoredBatch;
}

interface Rest {
  readonly coolDownMs: number;
  readonly batch: StoredBatch;
}

/**
 * Judges elections in the log: a term by election is begun by the accept of the one that was chosen, within the window
 * on the writer's own clock, and who missed it sits out (rule 18, I9).
 */
export class ElectionJudge {
  readonly #sight: WriterSight;
  readonly #choices = new Map<string, Choice>();
  readonly #rests = new Map<string, Rest>();
  readonly #candidates = new Map<string, Map<string, string>>();

  constructor(sight: WriterSight) {
    this.#sight = sight;
  }

  judge(batch: StoredBatch, event: Event): void {
    switch (event.kind) {
      case "candidatePut":
        this.#namesOf(event.lease).set(event.candidate, event.principal);
        return;
      case "candidateRemoved":
        this.#namesOf(event.lease).delete(event.candidate);
        return;
      case "holdPending":
        this.#choose(batch, event.lease, event.pending);
        return;
      case "pendingLapsed":
        this.#lapse(batch, event);
        return;
      case "candidateCooledDown":
        this.#rests.set(`${event.lease}#${event.candidate}`, { batch, coolDownMs: event.coolDownMs });
        return;
      case "holdGranted":
        this.#grant(batch, event.lease, event.hold, event.author);
        return;
      case "leaseDeleted":
        if (event.isRemoved) this.#choices.delete(event.lease);
        return;
      case "tombstoneRemoved":
        demand(
          this.#namesOf(event.lease).size === 0,
          "rule 15",
          () => `${event.lease} is forgotten with its candidates`,
        );
        return;
      default:
        return;
    }
  }

  #choose(batch: StoredBatch, lease: string, pending: PendingHold): void {
    const { candidate } = pending;
    const what = `${candidate} was chosen for ${lease} in batch ${batch.sequence}`;
    demand(this.#namesOf(lease).has(candidate), "rule 18", () => `${what} and is no candidate`);
    const before = this.#choices.get(lease);
    demand(before === undefined, "rule 18", () => `${what} while ${before?.pending.candidate} may accept`);
    const rest = this.#rests.get(`${lease}#${candidate}`);
    if (rest !== undefined) {
      const waitedMs = this.#sight.mostMs(batch, rest.batch);
      demand(
        waitedMs >= rest.coolDownMs,
        "rule 18",
        () => `${what} after ${waitedMs} ms of ${rest.coolDownMs} to sit out`,
      );
    }
    this.#choices.set(lease, { pending, batch });
  }

  #lapse(batch: StoredBatch, event: Extract<Event, { kind: "pendingLapsed" }>): void {
    const { author, candidate, lease, token } = event;
    const choice = this.#choices.get(lease);
    const what = `the choice of ${candidate} for ${lease} lapsed in batch ${batch.sequence}`;
    demand(choice?.pending.token === token, "rule 18", () => `${what} and was not pending`);
    this.#choices.delete(lease);
    // One that withdraws gives up its choice at once.
    if (author !== "" && author === this.#namesOf(lease).get(candidate)) return;
    const waitedMs = this.#sight.mostMs(batch, choice.batch);
    demand(waitedMs >= choice.pending.acceptWindowMs, "rule 18", () => `${what} after ${waitedMs} ms`);
    const isTold = batch.events.some((event) => event.kind === "candidateCooledDown" && event.candidate === candidate);
    demand(isTold || !this.#namesOf(lease).has(candidate), "rule 18", () => `${what}, and it does not sit out`);
  }

  #grant(batch: StoredBatch, lease: string, { holder, origin, principal, token }: HoldFacts, author: string): void {
    const choice = this.#choices.get(lease);
    const what = `${lease} was given to ${holder} (token ${token}) in batch ${batch.sequence}`;
    if (origin !== "elected") {
      demand(choice === undefined, "rule 18", () => `${what} while ${choice?.pending.candidate} may accept`);
      return;
    }
    demand(choice?.pending.token === token, "I9", () => `${what} by an election that is not pending`);
    const { acceptWindowMs, candidate } = choice.pending;
    const isOwn = holder === candidate && author === principal && this.#namesOf(lease).get(candidate) === principal;
    demand(isOwn, "I9", () => `${what}, accepted by ${author}, but ${candidate} was chosen`);
    const tookMs = this.#sight.leastMs(batch, choice.batch);
    demand(!(tookMs >= acceptWindowMs), "rule 18", () => `${what}, accepted after ${tookMs} ms of ${acceptWindowMs}`);
    this.#choices.delete(lease);
  }

  #namesOf(lease: string): Map<string, string> {
    const names = this.#candidates.get(lease) ?? new Map();
    this.#candidates.set(lease, names);
    return names;
  }
}
