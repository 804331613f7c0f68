import type { LeaseKey, PartitionState } from "@tenure/core";
import { partitionOf } from "@tenure/core";
import type { Clock } from "@tenure/kernel";
import { replicaBehind } from "./faults.ts";
import { PastState } from "./past-state.ts";
import type { WatchHub } from "./watch-hub.ts";

/** Every partition of the log in memory, as lists, reads and watches are answered from it. */
export interface ReadModel {
  readonly clock: Clock;
  readonly incarnationId: string;
  /** How many partitions there are. */
  readonly partitions: number;
  readonly hub: WatchHub;
  /** Reads a partition when it shows only what is committed; UNAVAILABLE while it is being loaded or has halted. */
  view<Answer>(partition: number, read: (state: PartitionState) => Answer): Promise<Answer>;
}

/** The partitions that may hold the leases; all when none are named. */
export function partitionsOf({ partitions }: ReadModel, leases: readonly LeaseKey[] | undefined): readonly number[] {
  if (leases === undefined) return Array.from({ length: partitions }, (_, partition) => partition);
  return [...new Set(leases.map((lease) => partitionOf(lease, partitions)))];
}

/** Reads a partition as it was at a revision; undefined when that is no longer kept. */
export function viewAt<Answer>(
  model: ReadModel,
  partition: number,
  revision: bigint,
  read: (past: PastState) => Answer,
): Promise<Answer | undefined> {
  return model.view(partition, (state) => {
    const later = model.hub.laterThan(revision, partition);
    return later === undefined ? undefined : read(new PastState(state, later, () => model.hub.namesOf(state)));
  });
}

/** Waits until a partition has been read up to a client's highest seen revision. What was committed here has been read. */
export async function reachIn(
  model: ReadModel,
  partition: number,
  revision: bigint,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<void> {
  if (revision === 0n || model.hub.revision >= revision) return;
  if ((await model.view(partition, ({ lastSequence }) => lastSequence)) >= revision) return;
  await model.hub.reach(revision, timeoutMs, signal);
}

/** Waits until the hub has told everything that the partitions show, so that a list here shows what was written here. */
export async function settle(
  model: ReadModel,
  partitions: readonly number[],
  revision: bigint,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<void> {
  let newest = revision;
  for (const partition of partitions) {
    const applied = await model.view(partition, ({ lastSequence }) => lastSequence);
    if (applied > newest) newest = applied;
  }
  await model.hub.reach(newest, timeoutMs, signal);
  if (!model.hub.isFollowing) throw replicaBehind("the log is being read");
}
