import { type CandidateRecord, type CandidateSpec, defaultCandidateSpec, type Priority } from "../record/candidate.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { Position } from "../record/position.ts";
import type { Strategy } from "../record/strategy.ts";
import type { Assumptions, ElectionView } from "./view.ts";

/** One thing that is assumed in a dry run. */
export type Hypothesis =
  /** The candidate, and its term if it leads, is gone. */
  | { readonly kind: "candidateGone"; readonly candidate: string }
  /** The candidate is cordoned and, if it leads, finishes. */
  | { readonly kind: "candidateDrained"; readonly candidate: string }
  | { readonly kind: "candidateUncordoned"; readonly candidate: string }
  /** The candidate exists and says this of itself; what is left out stays as it is. */
  | {
      readonly kind: "candidate";
      readonly candidate: string;
      readonly spec: Partial<CandidateSpec>;
      readonly priority?: Pick<Priority, "value" | "expiresAfterMs">;
    }
  /** An operator sets this strategy. */
  | { readonly kind: "strategy"; readonly strategy: Strategy }
  | { readonly kind: "zoneGone"; readonly zone: string }
  /** The present term ends. */
  | { readonly kind: "holderGone" }
  | { readonly kind: "candidateAnswers"; readonly candidate: string }
  | { readonly kind: "candidateSilent"; readonly candidate: string };

/** A lease as it would be, without a change to the one that is. */
interface Imagined {
  record: LeaseRecord;
  readonly candidates: Map<string, CandidateRecord>;
  readonly answering: Set<string>;
  readonly silent: Set<string>;
  removed: readonly CandidateRecord[];
}

/** The view as it would be if the hypotheses were true, taken in order. The one that is given does not change. */
export function imagine(view: ElectionView, hypotheses: readonly Hypothesis[], now: number): ElectionView {
  const imagined: Imagined = {
    record: view.record,
    candidates: new Map(view.record.candidates),
    answering: new Set(view.assumptions?.answering),
    silent: new Set(view.assumptions?.silent),
    removed: view.assumptions?.removed ?? [],
  };
  for (const hypothesis of hypotheses) assume(imagined, hypothesis, now);
  const { answering, candidates, record, removed, silent } = imagined;
  const assumptions: Assumptions = { answering, silent, removed };
  return { ...view, record: record.copy({ candidates }), assumptions };
}

function assume(imagined: Imagined, hypothesis: Hypothesis, now: number): void {
  switch (hypothesis.kind) {
    case "candidateGone":
      remove(imagined, hypothesis.candidate);
      break;
    case "zoneGone": {
      const gone = [...imagined.candidates.values()].filter(({ spec }) => spec.zone === hypothesis.zone);
      for (const { name } of gone) remove(imagined, name);
      break;
    }
    case "candidateDrained": {
      const set = assumedAt(now);
      const cordon = { expiresAfterMs: undefined, author: "dry run", reason: "taken to be drained", set };
      change(imagined, hypothesis.candidate, (candidate) => ({ ...candidate, cordon }));
      endTermOf(imagined, hypothesis.candidate);
      break;
    }
    case "candidateUncordoned":
      change(imagined, hypothesis.candidate, (candidate) => ({ ...candidate, cordon: undefined }));
      break;
    case "candidate":
      put(imagined, hypothesis, now);
      break;
    case "strategy": {
      const { strategy } = hypothesis;
      const setting = { strategy, source: "operator", author: "dry run", reason: "", set: assumedAt(now) } as const;
      imagined.record = imagined.record.copy({ strategy: setting, conflict: undefined });
      break;
    }
    case "holderGone":
      endTerm(imagined);
      break;
    case "candidateAnswers":
      imagined.silent.delete(hypothesis.candidate);
      imagined.answering.add(hypothesis.candidate);
      break;
    case "candidateSilent":
      imagined.answering.delete(hypothesis.candidate);
      imagined.silent.add(hypothesis.candidate);
      break;
  }
}

function change(imagined: Imagined, name: string, changed: (candidate: CandidateRecord) => CandidateRecord): void {
  const candidate = imagined.candidates.get(name);
  if (candidate !== undefined) imagined.candidates.set(name, changed(candidate));
}

function remove(imagined: Imagined, name: string): void {
  const candidate = imagined.candidates.get(name);
  if (candidate === undefined) return;
  imagined.candidates.delete(name);
  imagined.removed = [...imagined.removed.filter((other) => other.name !== name), candidate];
  endTermOf(imagined, name);
}

function endTermOf(imagined: Imagined, name: string): void {
  const [hold] = imagined.record.holds;
  if ((hold?.details?.candidate ?? hold?.holder) === name || imagined.record.pending?.candidate === name)
    endTerm(imagined);
}

/** The term ends as if its holder had released it: nothing else is known of how it would. */
function endTerm(imagined: Imagined): void {
  const { record } = imagined;
  const lastEndReason = record.holds.length > 0 ? "released" : record.lastEndReason;
  imagined.record = record.copy({ holds: [], pending: undefined, endOfTerm: undefined, lastEndReason });
}

function put(imagined: Imagined, hypothesis: Extract<Hypothesis, { kind: "candidate" }>, now: number): void {
  const { candidate: name, priority, spec } = hypothesis;
  const position = assumedAt(now);
  const known = imagined.candidates.get(name) ?? newcomer(name, position);
  const given = priority && { ...priority, author: "dry run", reason: "", set: position };
  imagined.removed = imagined.removed.filter((other) => other.name !== name);
  imagined.candidates.set(name, {
    ...known,
    renewal: position,
    spec: { ...known.spec, ...spec },
    priority: given ?? known.priority,
  });
}

/** A candidate that does not exist yet: it would be the youngest. */
function newcomer(name: string, position: Position): CandidateRecord {
  return {
    name,
    uid: Number.MAX_SAFE_INTEGER,
    principal: "",
    registered: position,
    revision: position,
    renewal: position,
    spec: defaultCandidateSpec,
    priority: undefined,
    cordon: undefined,
    ping: undefined,
    coolDown: undefined,
    missedAccepts: 0,
  };
}

/** A position after every one in the log: what is assumed is younger than what is known. */
function assumedAt(now: number): Position {
  return { sequence: 2n ** 63n - 1n, wallMs: 0, seenAtMs: now };
}
