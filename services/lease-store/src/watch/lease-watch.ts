import {
  ChangeKind,
  type LeaseEvent,
  type LeaseSelection,
  type LeaseServiceWatchRequest,
  type LeaseServiceWatchResponse,
  leaseSelections,
} from "@tenure/contracts";
import { defaultLeaseSpec, existingLease, type LeaseKey, type PartitionState } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import type { ChangeSet, LeaseChange, Renderer } from "./changes.ts";
import type { WatchPlan } from "./watch-stream.ts";

/** The watch of leases that a request asks for; INVALID_ARGUMENT when its selectors make no sense. */
export function leaseWatch(
  request: LeaseServiceWatchRequest,
  render: Renderer,
  partitionsOf: (names: readonly LeaseKey[] | undefined) => readonly number[],
): WatchPlan<LeaseChange, LeaseServiceWatchResponse> {
  const selection = leaseSelections(request.selectors);
  if (selection instanceof Fault) throw selection;
  return new LeaseWatch(request, selection, render, partitionsOf(selection.names));
}

class LeaseWatch implements WatchPlan<LeaseChange, LeaseServiceWatchResponse> {
  readonly subject = "leases";
  readonly options: LeaseServiceWatchRequest["options"];
  readonly partitions: readonly number[];
  readonly #selection: LeaseSelection;
  readonly #names: ReadonlySet<LeaseKey> | undefined;
  readonly #render: Renderer;
  /** The leases that the watcher has been shown, so that one that no longer matches is told as removed. */
  readonly #shown = new Set<LeaseKey>();

  constructor(
    request: LeaseServiceWatchRequest,
    selection: LeaseSelection,
    render: Renderer,
    partitions: readonly number[],
  ) {
    this.options = request.options;
    this.partitions = partitions;
    this.#selection = selection;
    this.#names = selection.names === undefined ? undefined : new Set(selection.names);
    this.#render = render;
  }

  isConcerned({ leases, renewedLeases }: ChangeSet): boolean {
    const names = this.#names;
    if (names === undefined) return leases.length > 0 || renewedLeases.length > 0;
    return leases.some(({ key }) => names.has(key)) || renewedLeases.some(({ key }) => names.has(key));
  }

  present(state: PartitionState): readonly LeaseChange[] {
    const changes: LeaseChange[] = [];
    for (const key of this.#names ?? state.leases.keys()) {
      const record = existingLease(state, key);
      if (record === undefined || !this.#selection.matches(record)) continue;
      this.#shown.add(key);
      changes.push({ kind: ChangeKind.PRESENT, key, record: this.#render.lease(record, state), transitions: [] });
    }
    return changes;
  }

  select(changes: ChangeSet, includeRenewals: boolean): readonly LeaseChange[] {
    const selected = changes.leases.flatMap((change) => this.#judge(change));
    if (!includeRenewals) return selected;
    return [...selected, ...changes.renewedLeases.filter((change) => this.#matches(change))];
  }

  respond(
    changes: readonly LeaseChange[],
    revision: bigint,
    position: LeaseServiceWatchResponse["position"],
  ): LeaseServiceWatchResponse {
    const events = changes.map(
      ({ kind, record, transitions }): LeaseEvent => ({ kind, lease: record, revision, transitions: [...transitions] }),
    );
    return { events, position };
  }

  #judge(change: LeaseChange): readonly LeaseChange[] {
    const { key, kind } = change;
    const wasShown = this.#shown.has(key);
    if (kind === ChangeKind.REMOVED || !this.#matches(change)) {
      this.#shown.delete(key);
      return wasShown ? [{ ...change, kind: ChangeKind.REMOVED }] : [];
    }
    this.#shown.add(key);
    return [wasShown || kind === ChangeKind.ADDED ? change : { ...change, kind: ChangeKind.ADDED }];
  }

  #matches({ key, record }: LeaseChange): boolean {
    return this.#selection.matches({ key, spec: { ...defaultLeaseSpec, labels: record.spec?.labels ?? {} } });
  }
}
