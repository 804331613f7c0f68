import type { CallContext } from "@tenure/bus";
import { ReadConsistency, type ReadOptions } from "@tenure/contracts";
import { type ElectionView, type LeaseKey, type LeaseRecord, partitionOf, type RankingExpressions } from "@tenure/core";
import { type Clock, Fault, type Random } from "@tenure/kernel";
import { type LogReader, type OpenWatches, reachIn, replicaBehind } from "@tenure/reader";
import type { ElectionStore } from "../store/election-store.ts";

/** What every call stands on. */
export interface ElectionContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly instance: string;
  readonly reader: LogReader;
  readonly store: ElectionStore;
  readonly expressions: RankingExpressions;
  readonly stepDownCoolDownMs: number;
  readonly mostObservers: number;
  readonly observers: OpenWatches;
  /** What this replica knows of a lease now; undefined while nothing is kept under the name. */
  viewOf(lease: LeaseKey): ElectionView | undefined;
}

/** How long a replica that is behind may take to catch up. */
export const catchUpMs = 2_000;

/** Waits until this replica shows what a read asks for. */
export async function reach(
  { reader, store }: ElectionContext,
  lease: LeaseKey,
  read: ReadOptions | undefined,
  scope: CallContext,
): Promise<void> {
  const isLinearizable = read?.consistency === ReadConsistency.LINEARIZABLE;
  const fresh = isLinearizable ? await store.freshRevision(lease, askingOf(scope)) : 0n;
  const floor = read?.minRevision ?? 0n;
  const partition = partitionOf(lease, reader.partitions);
  await reachIn(reader, partition, fresh > floor ? fresh : floor, catchUpMs, scope.signal);
  // A partition that is being loaded says so rather than that nobody is there.
  await reader.view(partition, () => undefined);
}

/** The view of a lease of which something is known; LEASE_NOT_FOUND otherwise. */
export function requireView(context: ElectionContext, lease: LeaseKey): ElectionView {
  const view = context.viewOf(lease);
  if (view !== undefined) return view;
  if (!context.reader.isReady) throw replicaBehind("the log is being read");
  throw leaseNotFound(lease, context.reader.revision);
}

/** What is kept under a name, to be read at once. */
export function recordOf({ reader }: ElectionContext, lease: LeaseKey): LeaseRecord | undefined {
  return reader.stateOf(partitionOf(lease, reader.partitions)).leases.get(lease);
}

/** Who asks the store, and for how long. */
export function askingOf(scope: CallContext) {
  return { principal: scope.principal, deadlineMs: Math.max(1, scope.remainingMs()), signal: scope.signal };
}

/** Nothing is kept under the name. */
export function leaseNotFound(lease: LeaseKey, revision: bigint): Fault {
  return new Fault({
    code: "NOT_FOUND",
    reason: "LEASE_NOT_FOUND",
    message: `there is no lease or candidate under ${lease}`,
    details: { lease, revision, applied: "NO" },
  });
}
