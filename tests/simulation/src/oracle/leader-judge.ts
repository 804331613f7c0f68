import type { CandidateRecord, Event, LeaseRecord, Strategy } from "@tenure/core";
import { expressions } from "../actors/strategist.ts";
import { electionPrincipal } from "../store/election-node.ts";
import { demand } from "./violation.ts";

/**
 * How often the leader may change without any change: once to the one that was chosen before the last change, and once to
 * the one that is best since.
 */
const mostAfterChange = 2;

/** Longer than any message or look takes when nothing goes wrong, and than clocks err for the rests of a run. */
const graceMs = 1_500;

const willingness = { preferred: 0, neutral: 1, lastResort: 2, never: 3 } as const;
const precedence = ["oldestCompatibilityVersion", "newestCompatibilityVersion", "priority"];

/**
 * Judges who leads, by the log alone and by a comparison of its own: when things are quiet the best candidate that answers leads, a
 * term is not asked to end for one that is gone (statement 74), and the leader changes no oftener than what it depends on.
 */
export class LeaderJudge {
  readonly #restsUntilMs = new Map<string, number>();
  readonly #missed = new Set<string>();
  /** The newest question to each candidate that it has not answered. */
  readonly #unanswered = new Map<string, bigint>();
  readonly #transitions = new Map<string, number>();
  readonly #changes = new Map<string, number>();
  readonly #sinceChange = new Map<string, number>();
  #isCounting = false;

  /** From now on the leader may change only when something that it depends on does. */
  count(): void {
    this.#isCounting = true;
  }

  /** How often leaders changed, and how often something that they depend on. */
  get counts(): { readonly transitions: number; readonly changes: number } {
    const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((total, one) => total + one, 0);
    return { transitions: sum(this.#transitions), changes: sum(this.#changes) };
  }

  judge(event: Event, nowMs: number): void {
    switch (event.kind) {
      case "candidateCooledDown": {
        const key = `${event.lease}#${event.candidate}`;
        this.#restsUntilMs.set(key, nowMs + event.coolDownMs + graceMs);
        if (event.hasMissedAccept) this.#missed.add(key);
        return;
      }
      case "candidatesPinged":
        for (const { candidate, pingNumber } of event.questions) {
          this.#unanswered.set(`${event.lease}#${candidate}`, pingNumber);
        }
        return;
      case "candidateAnswered": {
        const key = `${event.lease}#${event.candidate}`;
        if (this.#unanswered.get(key) === event.pingNumber) this.#unanswered.delete(key);
        return;
      }
      case "holdGranted":
        if (event.hold.origin !== "elected") return;
        this.#missed.delete(`${event.lease}#${event.hold.holder}`);
        add(this.#transitions, event.lease);
        add(this.#sinceChange, event.lease);
        this.#expectCalm(event.lease);
        return;
      case "candidatePut":
      case "candidateRemoved":
      case "strategyChanged":
        // What coordinators write down is not a change of their own making.
        if (event.author === electionPrincipal) return;
        add(this.#changes, event.lease);
        this.#sinceChange.set(event.lease, 0);
        return;
      default:
        return;
    }
  }

  /** Whoever should lead does. A term that no coordinator gave, or that may not be renewed, is left alone. */
  expectLed(record: LeaseRecord | undefined, nowMs: number): void {
    if (record === undefined) return;
    const { candidates, endOfTerm, holds, key: lease, pending } = record;
    const able = [...(candidates?.values() ?? [])].filter((candidate) => this.#isAble(lease, candidate, nowMs));
    const [hold] = holds;
    const names = able.map(({ name }) => name).join(", ");
    // One who answers and never accepts is tried again now and then, also at the end of a run.
    demand(
      hold !== undefined || pending !== undefined || able.length === 0,
      "I26",
      () => `nobody leads ${lease}, and ${names} could`,
    );
    const leader = candidates?.get(hold?.details?.candidate ?? "");
    if (leader === undefined || hold?.revocation !== undefined) return;
    if (endOfTerm !== undefined) {
      const { decisionId, preferredHolder } = endOfTerm;
      const isThere = decisionId === "" || candidates?.has(preferredHolder);
      const what = () => `${leader.name} is asked to finish ${lease} for ${preferredHolder}, which has gone`;
      demand(isThere === true, "statement 74", what);
      return;
    }
    const strategy = strategyOf(record);
    const better = able.find((candidate) => !leader.spec.isHealthy || isBetter(candidate, leader, strategy));
    const what = () => `${leader.name} leads ${lease}, but ${better?.name} is better by ${strategy?.kind}`;
    demand(better === undefined || better === leader, "best", what);
  }

  #isAble(lease: string, { cordon, name, spec }: CandidateRecord, nowMs: number): boolean {
    const key = `${lease}#${name}`;
    // A cordon that runs out has done so by the end of a run.
    const isBarred = cordon !== undefined && cordon.expiresAfterMs === undefined;
    const isResting = nowMs < (this.#restsUntilMs.get(key) ?? 0) || this.#missed.has(key);
    return spec.isHealthy && spec.preference !== "never" && !isBarred && !isResting && !this.#unanswered.has(key);
  }

  #expectCalm(lease: string): void {
    if (!this.#isCounting) return;
    const [changes, transitions] = [this.#changes.get(lease) ?? 0, this.#transitions.get(lease) ?? 0];
    const what = () =>
      `${lease} changed its leader ${transitions} times in ${changes} changes, too often since the last`;
    const isCalm = transitions <= changes && (this.#sinceChange.get(lease) ?? 0) <= mostAfterChange;
    demand(isCalm, "flapping", what);
  }
}

function add(counts: Map<string, number>, lease: string): void {
  counts.set(lease, (counts.get(lease) ?? 0) + 1);
}

/** An operator's strategy, or else the latest kind that any candidate asks for. */
function strategyOf({ candidates, strategy }: LeaseRecord): Strategy | undefined {
  if (strategy?.source === "operator") return strategy.strategy;
  const wishes = [...(candidates?.values() ?? [])].map(({ spec }) => spec.strategy);
  return wishes.sort((left, right) => precedence.indexOf(right.kind) - precedence.indexOf(left.kind))[0];
}

/** Whether one candidate is so much better than the leader that it should lead instead. Ties end no term. */
function isBetter(candidate: CandidateRecord, leader: CandidateRecord, strategy?: Strategy): boolean {
  // Nobody would stay by a ranking that prefers whoever does not lead, so whoever leads does.
  if (strategy?.expression === expressions[1]) return false;
  const sign = strategy?.kind === "newestCompatibilityVersion" ? -1 : 1;
  const differences = [
    willingness[candidate.spec.preference] - willingness[leader.spec.preference],
    priorityOf(leader) - priorityOf(candidate),
    sign * (minorOf(candidate.spec.compatibilityVersion) - minorOf(leader.spec.compatibilityVersion)),
    sign * (minorOf(candidate.spec.binaryVersion) - minorOf(leader.spec.binaryVersion)),
  ];
  return (differences.find((difference) => difference !== 0) ?? 0) < 0;
}

/** One that runs out has done so by the end of a run. */
function priorityOf({ priority }: CandidateRecord): number {
  return priority === undefined || priority.expiresAfterMs !== undefined ? 0 : priority.value;
}

function minorOf(version: string): number {
  return Number(version.split(".")[1]);
}
