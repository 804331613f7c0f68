import {
  type CandidateEvent,
  type CandidateSelection,
  type CandidateServiceWatchRequest,
  type CandidateServiceWatchResponse,
  ChangeKind,
  candidateSelections,
} from "@tenure/contracts";
import type { LeaseKey, PartitionState } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import type { CandidateChange, ChangeSet, Renderer } from "./changes.ts";
import type { WatchPlan } from "./watch-stream.ts";

/** The watch of candidates that a request asks for; INVALID_ARGUMENT when its selectors make no sense. */
export function candidateWatch(
  request: CandidateServiceWatchRequest,
  render: Renderer,
  partitionsOf: (names: readonly LeaseKey[] | undefined) => readonly number[],
): WatchPlan<CandidateChange, CandidateServiceWatchResponse> {
  const selection = candidateSelections(request.selectors);
  if (selection instanceof Fault) throw selection;
  return new CandidateWatch(request, selection, render, partitionsOf(selection.leases));
}

class CandidateWatch implements WatchPlan<CandidateChange, CandidateServiceWatchResponse> {
  readonly subject = "candidates";
  readonly options: CandidateServiceWatchRequest["options"];
  readonly partitions: readonly number[];
  readonly #selection: CandidateSelection;
  readonly #render: Renderer;
  readonly #shown = new Set<string>();

  constructor(
    request: CandidateServiceWatchRequest,
    selection: CandidateSelection,
    render: Renderer,
    partitions: readonly number[],
  ) {
    this.options = request.options;
    this.partitions = partitions;
    this.#selection = selection;
    this.#render = render;
  }

  isConcerned({ candidates, renewedCandidates }: ChangeSet): boolean {
    return candidates.length > 0 || renewedCandidates.length > 0;
  }

  present(state: PartitionState): readonly CandidateChange[] {
    const changes: CandidateChange[] = [];
    for (const key of this.#selection.leases ?? state.leases.keys()) {
      const record = state.leases.get(key);
      for (const candidate of record?.candidates?.values() ?? []) {
        if (record === undefined || !this.#selection.matches(record, candidate)) continue;
        const { name } = candidate;
        this.#shown.add(`${key} ${name}`);
        changes.push({ kind: ChangeKind.PRESENT, key, name, record: this.#render.candidate(candidate, record) });
      }
    }
    return changes;
  }

  select(changes: ChangeSet, includeRenewals: boolean): readonly CandidateChange[] {
    const all = includeRenewals ? [...changes.candidates, ...changes.renewedCandidates] : changes.candidates;
    return all.flatMap((change) => this.#judge(change));
  }

  respond(
    changes: readonly CandidateChange[],
    revision: bigint,
    position: CandidateServiceWatchResponse["position"],
  ): CandidateServiceWatchResponse {
    const events = changes.map(({ kind, record }): CandidateEvent => ({ kind, candidate: record, revision }));
    return { events, position };
  }

  #judge(change: CandidateChange): readonly CandidateChange[] {
    const { key, kind, matched, name } = change;
    const place = `${key} ${name}`;
    const wasShown = this.#shown.has(place);
    if (matched === undefined || !this.#selection.matches(matched.record, matched.candidate)) {
      this.#shown.delete(place);
      return wasShown ? [{ ...change, kind: ChangeKind.REMOVED }] : [];
    }
    this.#shown.add(place);
    return [wasShown || kind === ChangeKind.ADDED ? change : { ...change, kind: ChangeKind.ADDED }];
  }
}
